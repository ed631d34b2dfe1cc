import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../../test/support/database.ts";
import type { TaskReport } from "../../../../core/messages.ts";
import { failTasks, recordReports as recordAll } from "../../../postgres/repositories/reports.ts";
import type { LeaseToken } from "./message-columns.ts";
import { recordExpectedReports, recordReports } from "./record-reports.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() =>
  database.db.query(
    "TRUNCATE dagapp.dag_queue_leases, dagapp.dag_task_results, dagapp.dag_task_inbox",
  ),
);

const row = (task_id: string, rest: Partial<TaskReport> = {}): TaskReport => ({
  task_id,
  job_id: "job",
  node_id: `node of ${task_id}`,
  status: "completed",
  output: '{"a": 1}',
  error: null,
  worker_id: "w",
  ...rest,
});

async function lease(message_id: number, deliveries: number): Promise<LeaseToken> {
  await database.db.query(
    `INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, released,
       message_key, body, enqueued_at, holder, until)
     VALUES ($1, 'q', 0, $2, 0, 'key', '', now(), 'w', now())`,
    [message_id, deliveries],
  );
  return { message_id, deliveries };
}

async function results() {
  const { rows } = await database.db.query<{ task_id: string; started_at: Date | null }>(
    "SELECT * FROM dagapp.dag_task_results ORDER BY task_id",
  );
  return rows;
}

it("records reports whose lease is held, and answers `lost` for the others, in their order", async () => {
  const held = await lease(2, 1);
  await lease(1, 5);
  const answers = await recordReports(database.db, [
    { ...row("late"), lease: { message_id: 1, deliveries: 4 } },
    { ...row("good"), lease: held },
    { ...row("gone"), lease: { message_id: 3, deliveries: 1 } },
  ]);
  expect(answers).toEqual(["lost", "ok", "lost"]);
  expect((await results()).map(({ task_id }) => task_id)).toEqual(["good"]);
  expect((await results())[0]?.started_at).toBeInstanceOf(Date);
  const { rows } = await database.db.query("SELECT message_id FROM dagapp.dag_queue_leases");
  expect(rows).toEqual([{ message_id: 1 }]);
});

it("keeps the first result of a task, and still completes the second message", async () => {
  await recordAll(database.db, [row("a")]);
  const again = { ...row("a", { output: '{"a": 2}' }), lease: await lease(1, 1) };
  expect(await recordReports(database.db, [again])).toEqual(["ok"]);
  expect(await results()).toMatchObject([{ task_id: "a", output: { a: 1 } }]);
});

it("records results without a lease once, and puts each in the inbox once", async () => {
  const failed = row("b", { status: "failed", output: null, error: '{"code": "X"}' });
  await recordAll(database.db, [row("a"), failed]);
  await recordAll(database.db, [row("a", { output: '{"a": 3}' })]);
  expect(await results()).toMatchObject([
    { task_id: "a", output: { a: 1 } },
    { task_id: "b", status: "failed" },
  ]);
  const { rows } = await database.db.query("SELECT task_id FROM dagapp.dag_task_inbox");
  expect(rows).toHaveLength(2);
});

it("with an expectation records failures or nothing, and nothing in the inbox", async () => {
  const failure = { status: "failed", output: null, error: '{"code": "X"}' } as const;
  const expected = (id: string, lease: { message_id: number; deliveries: number }) => ({
    ...row(id, failure),
    lease,
    started_at: "2026-01-01 00:00:00+00",
  });
  const held = expected("bad", await lease(2, 1));
  const success = { ...row("good"), lease: await lease(5, 1), started_at: null };
  const gone = expected("gone", { message_id: 3, deliveries: 1 });
  const expecting = (reports: Parameters<typeof recordExpectedReports>[1]) =>
    database.db.transaction(
      async (tx) => {
        recordExpectedReports(tx, reports);
      },
      { maxAttempts: 1 },
    );
  await expect(expecting([held, gone])).rejects.toMatchObject({ code: "40001" });
  expect(await results()).toEqual([]);
  // The node of a success records it.
  await expecting([held, success]);
  expect(await results()).toMatchObject([{ task_id: "bad", status: "failed" }]);
  const { rows: leases } = await database.db.query("SELECT FROM dagapp.dag_queue_leases");
  expect(leases).toEqual([]);
  await expect(expecting([{ ...held, lease: await lease(4, 1) }])).rejects.toThrow(
    "expected state",
  );
  const { rows } = await database.db.query("SELECT task_id FROM dagapp.dag_task_inbox");
  expect(rows).toEqual([]);
});

it("fails only tasks that are their node's current attempt", async () => {
  await database.db.query(
    `INSERT INTO dagapp.dag_workflow_versions (workflow_hash, workflow_id, version, definition)
     VALUES (repeat('a', 64), 'w', '1', '{}') ON CONFLICT DO NOTHING`,
  );
  await database.db.query(
    `INSERT INTO dagapp.dag_jobs (job_id, workflow_id, workflow_hash, workflow_version, input_params,
       nodes_total, nodes_unsettled, status, started_at)
     VALUES ('job', 'w', repeat('a', 64), '1', '{}', 2, 2, 'running', now())`,
  );
  await database.db.query(
    `INSERT INTO dagapp.dag_node_states (job_id, node_id, node_type, status, task_id, max_retries)
     VALUES ('job', 'n', 'task', 'dispatched', 'job_n_1', 3)`,
  );
  const error = { code: "TIMEOUT", message: "too long", category: "transient" };
  const started_at = "2026-01-01 00:00:00+00";
  const failed = await failTasks(database.db, [
    { job_id: "job", task_id: "job_n_0", error },
    { job_id: "job", task_id: "job_n_1", error, worker_id: "w", started_at },
  ]);
  expect(failed).toBe(1);
  expect(await results()).toMatchObject([
    { task_id: "job_n_1", node_id: "n", status: "failed", error, worker_id: "w" },
  ]);
});
