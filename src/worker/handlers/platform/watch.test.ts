import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { temporaryFolders } from "../../../../test/support/embedded.ts";
import { TestEngine } from "../../../../test/support/engine.ts";
import type { TestContext } from "../../../../test/support/handler-context.ts";
import { createTestContext, noGdal } from "../../../../test/support/handler-context.ts";
import { jobHealthCheck, taskWatchdog } from "./watch.ts";

const folders = temporaryFolders();
let database: TestDatabase;
let engine: TestEngine;
let context: TestContext;

beforeAll(async () => {
  database = await createTestDatabase();
  const folder = await folders.make();
  await writeFile(
    path.join(folder, "one.yaml"),
    "nodes: { a: { handler: echo, timeout_seconds: 120 } }",
  );
  engine = await TestEngine.create(database, folder);
  context = await createTestContext({ gdal: noGdal, database: database.db });
});
afterAll(async () => {
  await context.dispose();
  await engine.close();
  await database.drop();
  await folders.remove();
});

const age = (jobId: string) =>
  database.db.transaction(async (tx) => {
    // Without triggers, which set the time of the last change.
    await tx.query("SET LOCAL session_replication_role = replica");
    await tx.query(
      `UPDATE dagapp.dag_node_states SET dispatched_at = dispatched_at - interval '2 hours',
         started_at = started_at - interval '2 hours', completed_at = completed_at - interval '2 hours'
       WHERE job_id = $1`,
      [jobId],
    );
    await tx.query(
      "UPDATE dagapp.dag_jobs SET updated_at = now() - interval '2 hours' WHERE job_id = $1",
      [jobId],
    );
  });

it("lists jobs that have not moved, and tasks that wait or run too long", async () => {
  expect(await context.run(jobHealthCheck, {})).toEqual({
    active_jobs: 0,
    stalled_count: 0,
    stalled_jobs: [],
  });
  const [fresh, old, ended] = [
    await engine.submit("one"),
    await engine.submit("one"),
    await engine.submit("one"),
  ];
  const [message] = await engine.take(ended.job_id);
  await engine.complete(message!, {});
  await engine.tick();
  await age(old.job_id);
  expect(await context.run(jobHealthCheck, { stalled_minutes: 60 })).toMatchObject({
    active_jobs: 2,
    stalled_count: 1,
    stalled_jobs: [{ job_id: old.job_id, workflow_id: "one", status: "running" }],
  });
  const waits = { waiting_tasks: 2, running_tasks: 0 };
  expect(await context.run(taskWatchdog, { waiting_minutes: 60 })).toMatchObject({
    ...waits,
    overdue_tasks: [{ job_id: old.job_id, node_id: "a", state: "waiting", worker_id: null }],
  });
  expect(await context.run(taskWatchdog, { waiting_minutes: 60 * 24 })).toEqual({
    ...waits,
    overdue_tasks: [],
  });
  await database.db.query(
    `WITH gone AS (DELETE FROM dagapp.dag_queue_ready WHERE group_key = $1 RETURNING *)
     INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, released,
       message_key, group_key, headers, body, enqueued_at, holder, until, leased_at)
     SELECT message_id, queue, priority, 1, 0, message_key, group_key, headers, body, enqueued_at,
       'w1', now() + interval '1 minute', now() - interval '10 minutes' FROM gone`,
    [fresh.job_id],
  );
  expect(await context.run(taskWatchdog, { waiting_minutes: 60 * 24 })).toMatchObject({
    running_tasks: 1,
    waiting_tasks: 1,
    overdue_tasks: [{ job_id: fresh.job_id, state: "running", timeout_seconds: 120 }],
  });
});
