/** Kills programs at the fail points that only an outside broker reaches, one after the other. */
import { expect } from "vitest";
import type { FailPoint } from "../../src/adapters/runtime/fail-points.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import type { Fleet } from "./programs.ts";
import { finished } from "./programs.ts";
import { expectReplay } from "./replay.ts";
import { waitFor } from "./wait.ts";

export interface OutsideFleet {
  readonly fleet: Fleet;
  readonly db: Database;
  /** What makes programs use the broker. */
  readonly env: Readonly<Record<string, string>>;
}

const armed = (name: FailPoint, nth = 1) => ({ RMHDAG_FAIL_POINT: `${name}:${nth}` });

/** Each task of a job ended once, and its events give its state. */
export async function expectOnce(db: Database, jobId: string): Promise<void> {
  const { rows } = await db.query<{ node_id: string }>(
    `SELECT node_id FROM dagapp.dag_unpacked_events
     WHERE job_id = $1 AND event_type = 'node_completed' GROUP BY node_id HAVING count(*) > 1`,
    [jobId],
  );
  expect(rows).toEqual([]);
  await expectReplay(db, jobId);
}

/** Between commit and sending, sending and removal, receipt and lease, lease and acceptance. */
export async function expectCrashesCostNothing({ fleet, db, env }: OutsideFleet): Promise<void> {
  const correlation_id = "crashes";
  const body = { workflow_id: "echo_test", inputs: { message: "left" }, correlation_id };
  const first = await fleet.orchestrator({ ...env, ...armed("relay.before_send") });
  // The crash may come before the answer; the job is stored all the same.
  await first.client.submitJob({ body }).catch(() => undefined);
  await first.gone;
  // The second orchestrator sends what the first left, and dies after it has sent its own messages.
  const second = await fleet.orchestrator({ ...env, ...armed("relay.after_send", 2) });
  await second.client.submitJob({ body }).catch(() => undefined);
  await second.gone;
  const third = await fleet.orchestrator(env);
  for (const name of ["outside.before_lease", "outside.after_lease"] as const) {
    const worker = await fleet.worker({ ...env, ...armed(name) });
    expect(await worker.gone).toBeNull();
  }
  await fleet.worker(env);
  const { items } = await third.client.listJobs({ query: { correlation_id } });
  expect(items).toHaveLength(2);
  for (const { job_id } of items) {
    expect((await finished(third, job_id, 120_000)).status).toBe("completed");
    await expectOnce(db, job_id);
  }
}

/** After a message that another program gave up was listed, and before the broker knows it. */
export async function expectListedOnce(
  { fleet, db, env }: OutsideFleet,
  giveUp: (queue: string) => Promise<void>,
): Promise<void> {
  const dying = await fleet.orchestrator({ ...env, ...armed("outside.dead_letter_listed") });
  const { job_id } = await dying.client.submitJob({
    body: { workflow_id: "echo_test", inputs: { message: "given up" } },
  });
  const node = await waitFor(
    async () => {
      const { rows } = await db.query<{ queue: string }>(
        `SELECT queue FROM dagapp.dag_node_states WHERE job_id = $1 AND status = 'dispatched'`,
        [job_id],
      );
      return rows[0];
    },
    { what: "a task", timeoutMs: 60_000 },
  );
  await giveUp(node.queue);
  await dying.gone;
  const next = await fleet.orchestrator(env);
  // The task may be tried again.
  await fleet.worker(env);
  await finished(next, job_id, 120_000);
  const { rows } = await db.query(`SELECT FROM dagapp.dag_queue_dead WHERE group_key = $1`, [
    job_id,
  ]);
  expect(rows).toHaveLength(1);
  await expectOnce(db, job_id);
}
