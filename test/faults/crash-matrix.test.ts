/**
 * Kills a program at every fail point in turn, in the middle of mixed work; a new one starts, and every
 * job ends as if nothing had happened. A fail point that is never reached fails its test, which waits
 * for the program to die there.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FailPoint } from "../../src/adapters/runtime/fail-points.ts";
import { failPoints } from "../../src/adapters/runtime/fail-points.ts";
import { ApiError } from "../../src/core/api/api-error.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";
import type { WorkFolder, WorkName } from "./mixed-work.ts";
import { allEnded, dead, expectMixedEnds, makeWorkFolder, quick, twoQueues } from "./mixed-work.ts";

let folder: WorkFolder;

beforeAll(async () => {
  folder = await makeWorkFolder();
});
afterAll(() => folder.remove());

/** Places that a submission reaches as well as a tick are also tried when only ticks are left. */
const moments: Partial<Record<FailPoint, readonly number[]>> = {
  "write.events_inserted": [1, 14],
  "write.jobs_updated": [1, 5],
  "write.messages_published": [1, 12],
  "tick.before_commit": [1, 5],
  "tick.after_commit": [1, 5],
  // Later than the program's line that it started, which the test waits for.
  "recover.before": [4],
  "worker.after_report": [1, 9],
  // Reached by workers over HTTP alone: remote-crashes.test.ts dies there.
  "remote.leased": [],
  "remote.recorded": [],
  "remote.checkpoint_saved": [],
  // Reached with an outside broker alone: test/support/outside-crashes.ts dies there.
  "relay.before_send": [],
  "relay.after_send": [],
  "outside.before_lease": [],
  "outside.after_lease": [],
  "outside.dead_letter_listed": [],
};
const matrix = failPoints.flatMap((name) =>
  (moments[name] ?? [1]).map((nth) => [name, nth] as const),
);

/** A client that repeats each request at the next orchestrator until one answers. */
class Customer {
  private orchestrator: Orchestrator;
  private readonly next: () => Promise<Orchestrator>;

  constructor(orchestrator: Orchestrator, next: () => Promise<Orchestrator>) {
    this.orchestrator = orchestrator;
    this.next = next;
  }

  async ask<T>(question: (orchestrator: Orchestrator) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await question(this.orchestrator);
      } catch (error) {
        if (error instanceof ApiError && error.status >= 400 && error.status < 500) throw error;
        this.orchestrator = await this.next();
      }
    }
  }

  async submit(key: string, workflow_id: WorkName, inputs: JsonObject = {}): Promise<string> {
    const body = { workflow_id, inputs, idempotency_key: key };
    return (await this.ask(({ client }) => client.submitJob({ body }))).job_id;
  }
}

async function submitMix(db: Database, customer: Customer): Promise<void> {
  await customer.submit("chain", "chain", { n: 7 });
  await customer.submit("spread", "spread", { items: [10, 11, 12, 13, 14, 15] });
  await customer.submit("branch", "branch", { size: 500 });
  await customer.submit("phases", "phases");
  const halted = await customer.submit("halted", "chain", { n: 8 });
  const nap = await customer.submit("nap", "nap");
  await customer.submit("doomed", "doomed");
  await db.query(
    `WITH added AS (INSERT INTO dagapp.dag_queue_ready (queue, message_key, body)
       VALUES ('dag-jobs', 'by-queue', '{"workflow_id":"chain","inputs":{"n":9}}'))
     SELECT pg_notify('dag_queue_dag-jobs', '')`,
  );
  // No worker takes from this queue: the job waits, and its message is moved to the dead letters.
  await db.query(
    `WITH gone AS (DELETE FROM dagapp.dag_queue_ready WHERE queue = 'container-tasks' RETURNING *)
     INSERT INTO dagapp.dag_queue_dead (message_id, queue, priority, deliveries, released,
       message_key, group_key, headers, body, enqueued_at, reason)
     SELECT message_id, queue, priority, 5, released, message_key, group_key, headers, body,
       enqueued_at, 'MaxDeliveriesExceeded' FROM gone`,
  );
  const tolerant = async (question: Promise<unknown>) => {
    // It may have ended meanwhile, or have been asked already by a request whose answer was lost.
    await question.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    });
  };
  const job = (job_id: string) => ({ params: { job_id } });
  await tolerant(customer.ask(({ client }) => client.pauseJob(job(halted))));
  await customer.ask(({ client }) => client.cancelJob({ ...job(nap), body: { reason: "enough" } }));
  await tolerant(customer.ask(({ client }) => client.resumeJob(job(halted))));
}

/** Each has a database and programs of its own, and mostly waits for leases and heartbeats to run out. */
describe.concurrent.each(matrix)("a program that dies at %s, the time %i", (name, nth) => {
  it("costs no job, no success and no event", async () => {
    const database = await createTestDatabase();
    const fleet = new Fleet(database.url, folder.path);
    try {
      await expectNoLoss(database.db, fleet, name, nth);
    } finally {
      await fleet.stop();
      await database.drop();
    }
  });
});

async function expectNoLoss(db: Database, fleet: Fleet, name: FailPoint, nth: number) {
  const armed = { RMHDAG_FAIL_POINT: `${name}:${nth}` };
  const isWorker = name.startsWith("worker.");
  const isTakeOver = name.startsWith("take_over.");
  const isCallback = name.startsWith("callback.");

  const orchestrator = await fleet.orchestrator({ ...quick, ...(isWorker ? {} : armed) });
  // An orchestrator that can only die of a take-over lets another one have the jobs first.
  const first = isTakeOver ? await fleet.orchestrator(quick) : orchestrator;
  const worker = await fleet.worker({
    ...twoQueues,
    ...(isWorker ? armed : {}),
    ...(isCallback ? { DAG_CALLBACK_URL: orchestrator.url } : {}),
  });
  const victim = isWorker ? worker : orchestrator;
  const code = dead(victim, name);
  code.catch(() => undefined);
  let replacement: Promise<Orchestrator> | undefined;
  const replace = () => (replacement ??= code.then(() => fleet.orchestrator(quick)));

  await submitMix(db, new Customer(first, replace));
  if (isTakeOver) first.signal("SIGKILL");
  if (name.startsWith("sign_off.")) orchestrator.signal("SIGTERM");
  // Killed by the fail point: an exit code would mean that it ended by itself.
  expect(await code).toBeNull();
  if (isWorker) await fleet.worker(twoQueues);
  else await replace();
  if (isCallback) {
    // It reports to the address of the orchestrator that is gone.
    worker.signal("SIGKILL");
    await fleet.worker(twoQueues);
  }
  expectMixedEnds(await allEnded(db, 8));
  await waitFor(
    async () => {
      const { rows } = await db.query(`SELECT FROM dagapp.dag_queue_leases`);
      return rows.length === 0;
    },
    { timeoutMs: 20_000, what: "every lease to end" },
  );
  await expectInvariants(db);
}
