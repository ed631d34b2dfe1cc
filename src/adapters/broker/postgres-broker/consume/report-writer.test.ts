import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../../test/support/database.ts";
import { createLogger } from "../../../runtime/logger.ts";
import { recordReports } from "../sql/record-reports.ts";
import { createReportWriter } from "./report-writer.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const report = (task_id: string, worker_id: string) => ({
  task_id,
  job_id: "job",
  node_id: task_id,
  status: "completed" as const,
  output: "{}",
  error: null,
  worker_id,
});

async function lease(message_id: number) {
  await database.db.query(
    `INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, released,
       message_key, body, enqueued_at, holder, until)
     VALUES ($1, 'q', 0, 1, 0, 'key', '', now(), 'w', now())`,
    [message_id],
  );
  return { message_id, deliveries: 1 };
}

it("takes a report that an orchestrator recorded without an answer for recorded", async () => {
  const writer = createReportWriter({
    db: () => database.db,
    // The answer of the push connection was lost.
    push: { report: () => Promise.resolve("again" as const) },
    log: createLogger({ name: "test", level: "silent", format: "json" }),
  });
  const ours = { ...report("ours", "w"), lease: await lease(1) };
  const theirs = { ...report("theirs", "other"), lease: await lease(2) };
  const fresh = { ...report("fresh", "w"), lease: await lease(3) };
  await recordReports(database.db, [ours, theirs]);
  const late = { ...theirs, worker_id: "w" };
  const answers = [ours, late, fresh].map(({ lease: held, ...each }) =>
    writer.write(each, { lease: held, leased_at: "", pushedBy: undefined }),
  );
  expect(await Promise.all(answers)).toEqual(["ok", "lost", "ok"]);
});
