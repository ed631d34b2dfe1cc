import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";

const chain = `nodes:
  a: { handler: echo, next: b }
  b: { handler: echo }`;

/** Orchestrators of 0.1.0 and before keep rows of the implicit start and end, and trust the count of a job. */
describe("a job that an earlier release had for a while", () => {
  const folders = temporaryFolders();
  let database: TestDatabase;
  let engine: TestEngine;

  beforeAll(async () => {
    database = await createTestDatabase();
    const folder = await folders.make();
    await writeFile(path.join(folder, "chain.yaml"), chain);
    engine = await TestEngine.create(database, folder);
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
    await folders.remove();
  });

  async function countOf(jobId: string): Promise<number | undefined> {
    const { rows } = await database.db.query<{ nodes_unsettled: number }>(
      "SELECT nodes_unsettled FROM dagapp.dag_jobs WHERE job_id = $1",
      [jobId],
    );
    return rows[0]?.nodes_unsettled;
  }

  it("finds a count in its row that has the start, which it settles anew", async () => {
    const { job_id } = await engine.submit("chain");
    // The start, both tasks and the end.
    expect(await countOf(job_id)).toBe(4);
    const [first] = await engine.take(job_id);
    await engine.complete(first!, {});
    await engine.tick();
    expect(await countOf(job_id)).toBe(3);
    const [second] = await engine.take(job_id);
    await engine.complete(second!, {});
    await engine.tick();
    expect(await countOf(job_id)).toBe(0);
  });

  it("is completed with rows of its implicit nodes, and with the start counted twice", async () => {
    const { job_id } = await engine.submit("chain");
    await database.db.query(
      `INSERT INTO dagapp.dag_node_states (job_id, node_id, node_type, status, completed_at)
       VALUES ($1, '@start', 'start', 'completed', now()), ($1, '@end', 'end', 'pending', NULL)`,
      [job_id],
    );
    await database.db.query(
      "UPDATE dagapp.dag_jobs SET nodes_unsettled = nodes_unsettled - 2 WHERE job_id = $1",
      [job_id],
    );
    engine.deps.cache.forget(job_id);
    for (const node of ["a", "b"]) {
      const [message] = await engine.take(job_id);
      expect(message?.task_id).toBe(`${job_id}_${node}_0`);
      await engine.complete(message!, {});
      await engine.tick();
    }
    expect((await engine.job(job_id)).status).toBe("completed");
    await engine.expectReplay(job_id);
  });
});
