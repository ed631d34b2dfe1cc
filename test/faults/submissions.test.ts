/** Many clients submit the same job at once, or while its workflow is edited. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { TestEngine } from "../support/engine.ts";
import { Fleet } from "../support/programs.ts";
import type { WorkFolder } from "./mixed-work.ts";
import { allEnded, makeWorkFolder, quick, twoQueues } from "./mixed-work.ts";

let folder: WorkFolder;
let database: TestDatabase;
let engine: TestEngine;

beforeEach(async () => {
  folder = await makeWorkFolder({
    two: "nodes: { a: { handler: echo, next: b }, b: { handler: echo } }",
  });
  database = await createTestDatabase();
  engine = await TestEngine.create(database, folder.path);
});
afterEach(async () => {
  await engine.close();
  await database.drop();
  await folder.remove();
});

async function finish(worker: TestEngine, jobId: string): Promise<void> {
  while ((await worker.job(jobId)).status === "running") {
    for (const message of await worker.take(jobId)) await worker.complete(message, { done: true });
    await worker.tick();
  }
}

describe("one idempotency key from 50 clients of two orchestrators", () => {
  it("makes one job, and every client gets its id", async () => {
    const fleet = new Fleet(database.url, folder.path);
    try {
      const orchestrators = [await fleet.orchestrator(quick), await fleet.orchestrator(quick)];
      await fleet.worker(twoQueues);
      for (let round = 0; round < 5; round++) {
        const body = { workflow_id: "two", inputs: {}, idempotency_key: `key ${round}` };
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, i) => orchestrators[i % 2]!.client.submitJob({ body })),
        );
        expect(new Set(answers.map(({ job_id }) => job_id)).size).toBe(1);
        expect(answers.filter(({ created }) => created).length).toBe(1);
      }
      expect((await allEnded(database.db, 5)).map(({ status }) => status)).toEqual(
        Array.from({ length: 5 }, () => "completed"),
      );
      await expectInvariants(database.db);
    } finally {
      await fleet.stop();
    }
  });
});

describe("a workflow that is edited while its jobs run", () => {
  it("changes no job that was submitted before, also after a take-over", async () => {
    const file = path.join(folder.path, "edited.yaml");
    const versions = ["first", "second", "third"];
    const write = (version: string) =>
      writeFile(
        file,
        `nodes: { a: { handler: echo, next: ${version} }, ${version}: { handler: echo } }`,
      );
    await write("first");
    const ids: string[] = [];
    for (const version of versions) {
      const [submitted] = await Promise.all([
        Promise.all(Array.from({ length: 10 }, () => engine.submit("edited"))),
        write(version),
      ]);
      ids.push(...submitted.map(({ job_id }) => job_id));
      ids.push((await engine.submit("edited")).job_id);
    }
    // Another engine knows nothing but what is stored.
    const heir = await TestEngine.create(database, folder.path);
    try {
      await database.db.query(`UPDATE dagapp.dag_jobs SET owner_id = $1, dirty = true`, [
        heir.deps.ownerId,
      ]);
      const seen = new Set<string>();
      for (const id of ids) {
        await finish(heir, id);
        expect((await heir.job(id)).status).toBe("completed");
        const nodes = Object.keys(await heir.statuses(id));
        const ran = versions.filter((version) => nodes.includes(version));
        expect(ran.length).toBe(1);
        seen.add(ran[0]!);
      }
      expect([...seen].sort()).toEqual([...versions].sort());
      await expectInvariants(database.db);
    } finally {
      await heir.close();
    }
  });
});
