import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";

const folders = temporaryFolders();
let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  const folder = await folders.make();
  const workflows = {
    nothing: `
nodes:
  split: { type: fan_out, source: "{{ inputs.list }}", task: { handler: echo }, next: join }
  join: { type: fan_in }`,
    wrong: `
nodes:
  route: { type: conditional, condition: "{{ inputs.n }} > 1", on_true: a, on_false: b }
  a: { handler: echo }
  b: { handler: echo }`,
  };
  for (const [name, text] of Object.entries(workflows)) {
    await writeFile(path.join(folder, `${name}.yaml`), text);
  }
  database = await createTestDatabase();
  engine = await TestEngine.create(database, folder);
});
afterAll(async () => {
  await engine.close();
  await database.drop();
  await folders.remove();
});

describe("a job that ends with its first evaluation", () => {
  it("is completed when its submitter has the answer, if there was nothing to do", async () => {
    const answer = await engine.submit("nothing", { list: [] });
    expect(answer.status).toBe("completed");
    expect((await engine.job(answer.job_id)).result_data).toMatchObject({ join: { count: 0 } });
    await engine.expectReplay(answer.job_id);
  });

  it("has failed when its submitter has the answer, if it cannot begin", async () => {
    const answer = await engine.submit("wrong", { n: "many" });
    expect(answer.status).toBe("failed");
    expect(await engine.job(answer.job_id)).toMatchObject({
      status: "failed",
      failed_node_id: "route",
    });
    await engine.expectReplay(answer.job_id);
  });
});
