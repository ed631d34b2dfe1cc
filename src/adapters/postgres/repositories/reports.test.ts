import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import type { LeaseToken } from "../../broker/broker.ts";
import { recordReports, recordResults } from "./reports.ts";
import type { TaskResultRow } from "./reports.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.db.query("TRUNCATE dagapp.dag_queue_leases, dagapp.dag_task_results"));

const row = (task_id: string, rest: Partial<TaskResultRow> = {}): TaskResultRow => ({
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
    `INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, handed_back,
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

it("records what is still held, tells the rest `lost`, and answers in the order given", async () => {
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

it("keeps the first result of a task, and still acknowledges the second message", async () => {
  await recordResults(database.db, [row("a")]);
  const again = { ...row("a", { output: '{"a": 2}' }), lease: await lease(1, 1) };
  expect(await recordReports(database.db, [again])).toEqual(["ok"]);
  expect(await results()).toMatchObject([{ task_id: "a", output: { a: 1 } }]);
});

it("records results without a lease once", async () => {
  const failed = row("b", { status: "failed", output: null, error: '{"code": "X"}' });
  expect(await recordResults(database.db, [row("a"), failed])).toHaveLength(2);
  expect(await recordResults(database.db, [row("a")])).toEqual([]);
  expect(await results()).toMatchObject([{ task_id: "a" }, { task_id: "b", status: "failed" }]);
});
