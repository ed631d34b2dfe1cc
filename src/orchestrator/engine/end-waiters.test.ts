import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";

const folders = temporaryFolders();
const never = new AbortController().signal;
let database: TestDatabase;
let engine: TestEngine;
let other: TestEngine;

beforeAll(async () => {
  const folder = await folders.make();
  await writeFile(path.join(folder, "one.yaml"), "nodes:\n  only: { handler: echo }\n");
  database = await createTestDatabase();
  engine = await TestEngine.create(database, folder);
  other = await TestEngine.create(database, folder);
});
afterAll(async () => {
  await engine.close();
  await other.close();
  await database.drop();
  await folders.remove();
});

async function finish(by: TestEngine, jobId: string): Promise<void> {
  for (const message of await by.take(jobId)) await by.complete(message, { done: true });
  await by.tick();
}

it("answers all requests that wait for a job with its end", async () => {
  const { job_id } = await engine.submit("one");
  const waiting = [1, 2].map(() => engine.deps.endWaiters.wait(job_id, 60_000, never));
  await finish(engine, job_id);
  const end = { status: "completed", result: { only: { done: true } } };
  expect(await Promise.all(waiting)).toMatchObject([end, end]);
});

it("answers undefined when the job still runs after the time, or the caller disconnects", async () => {
  const { job_id } = await engine.submit("one");
  expect(await engine.deps.endWaiters.wait(job_id, 1, never)).toBeUndefined();
  const leaving = new AbortController();
  const waiting = engine.deps.endWaiters.wait(job_id, 60_000, leaving.signal);
  leaving.abort();
  expect(await waiting).toBeUndefined();
  expect(await engine.deps.endWaiters.wait(job_id, 60_000, leaving.signal)).toBeUndefined();
});

it("finds the end of a job that another orchestrator took over", async () => {
  const { job_id } = await engine.submit("one");
  const waiting = engine.deps.endWaiters.wait(job_id, 60_000, never);
  await database.db.query("UPDATE dagapp.dag_jobs SET owner_id = $1 WHERE job_id = $2", [
    other.deps.ownerId,
    job_id,
  ]);
  await finish(other, job_id);
  expect(await waiting).toEqual({ status: "completed" });
});
