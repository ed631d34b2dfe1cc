import type { Database } from "../../src/adapters/postgres/database.ts";
import type { Program } from "./programs.ts";

/** Counts rare events: a run in which none happened has shown nothing about them. */
export interface ChaosReport {
  readonly jobs: number;
  readonly events: number;
  readonly takeOvers: number;
  readonly retries: number;
  readonly redeliveries: number;
  /** Reports from workers whose lease was lost, and results that were ignored. */
  readonly fenced: number;
  readonly serverCrashes: number;
  /** Messages that ran alone after their worker was lost. */
  readonly alone: number;
  readonly actions: Readonly<Record<string, number>>;
}

export interface ChaosFacts {
  readonly db: Database;
  /** Keys of the jobs whose submission was answered. */
  readonly submitted: ReadonlySet<string>;
  readonly done: ReadonlyMap<string, number>;
  readonly programs: readonly Program[];
}

/** What a worker logs of a message that runs alone. */
export const ranAlone = /running a message alone/;

/** Records each second delivery when it happens: its row is gone once it is settled. */
export async function watchRedeliveries(db: Database): Promise<void> {
  await db.query(
    `CREATE TABLE chaos_redelivered (message_id bigint);
     CREATE FUNCTION chaos_redelivered() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
     BEGIN INSERT INTO public.chaos_redelivered VALUES (NEW.message_id); RETURN NULL; END $$;
     CREATE TRIGGER chaos_redelivered AFTER INSERT ON dagapp.dag_queue_leases FOR EACH ROW
       WHEN (NEW.deliveries - NEW.released + NEW.lost > 1) EXECUTE FUNCTION chaos_redelivered();`,
  );
}

export async function countChaos(facts: ChaosFacts): Promise<ChaosReport> {
  const { db } = facts;
  const { rows } = await db.query<{ event_type: string; n: number }>(
    `SELECT event_type, count(*)::integer AS n FROM dagapp.dag_unpacked_events GROUP BY event_type`,
  );
  const events = new Map(rows.map(({ event_type, n }) => [event_type, n]));
  const redelivered = await db.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM chaos_redelivered`,
  );
  const lost = facts.programs
    .map((program) => program.output().match(/no longer ours|"cause":"lost"/g)?.length ?? 0)
    .reduce((sum, n) => sum + n, 0);
  return {
    jobs: await countJobs(facts),
    events: [...events.values()].reduce((sum, n) => sum + n, 0),
    takeOvers: events.get("job_claimed") ?? 0,
    retries: events.get("node_retry") ?? 0,
    redeliveries: redelivered.rows[0]?.n ?? 0,
    fenced: lost + (events.get("result_ignored") ?? 0),
    serverCrashes: facts.done.get("crash server") ?? 0,
    alone: facts.programs
      .map((program) => program.output().split(ranAlone).length - 1)
      .reduce((sum, n) => sum + n, 0),
    actions: Object.fromEntries(facts.done),
  };
}

/** Every job whose submission was answered is there. */
async function countJobs({ db, submitted }: ChaosFacts): Promise<number> {
  const { rows } = await db.query<{ idempotency_key: string }>(
    `SELECT idempotency_key FROM dagapp.dag_jobs`,
  );
  const stored = new Set(rows.map(({ idempotency_key }) => idempotency_key));
  const missing = [...submitted].filter((key) => !stored.has(key));
  if (missing.length > 0) throw new Error(`accepted and not there: ${missing.join(", ")}`);
  return rows.length;
}
