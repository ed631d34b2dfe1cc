import type { Database } from "../../src/adapters/postgres/database.ts";
import type { Program } from "./programs.ts";

/** How often something rare was really there: a run that never met it has shown nothing. */
export interface ChaosReport {
  readonly jobs: number;
  readonly events: number;
  readonly takeOvers: number;
  readonly retries: number;
  readonly redeliveries: number;
  /** Reports of those who had lost their task, and results that were ignored. */
  readonly fenced: number;
  readonly serverCrashes: number;
  readonly actions: Readonly<Record<string, number>>;
}

export interface ChaosFacts {
  readonly db: Database;
  /** Keys of the jobs whose submission was answered. */
  readonly submitted: ReadonlySet<string>;
  readonly redelivered: ReadonlySet<number>;
  readonly done: ReadonlyMap<string, number>;
  readonly programs: readonly Program[];
}

export async function countChaos(facts: ChaosFacts): Promise<ChaosReport> {
  const { db } = facts;
  const { rows } = await db.query<{ event_type: string; n: number }>(
    `SELECT event_type, count(*)::integer AS n FROM dagapp.dag_job_events GROUP BY event_type`,
  );
  const events = new Map(rows.map(({ event_type, n }) => [event_type, n]));
  const lost = facts.programs
    .map((program) => program.output().match(/no longer ours|"cause":"lost"/g)?.length ?? 0)
    .reduce((sum, n) => sum + n, 0);
  return {
    jobs: await countJobs(facts),
    events: [...events.values()].reduce((sum, n) => sum + n, 0),
    takeOvers: events.get("job_claimed") ?? 0,
    retries: events.get("node_retry") ?? 0,
    redeliveries: facts.redelivered.size,
    fenced: lost + (events.get("result_ignored") ?? 0),
    serverCrashes: facts.done.get("crash server") ?? 0,
    actions: Object.fromEntries(facts.done),
  };
}

/** Whoever was told that a job was taken finds it. */
async function countJobs({ db, submitted }: ChaosFacts): Promise<number> {
  const { rows } = await db.query<{ idempotency_key: string }>(
    `SELECT idempotency_key FROM dagapp.dag_jobs`,
  );
  const stored = new Set(rows.map(({ idempotency_key }) => idempotency_key));
  const missing = [...submitted].filter((key) => !stored.has(key));
  if (missing.length > 0) throw new Error(`accepted and not there: ${missing.join(", ")}`);
  return rows.length;
}
