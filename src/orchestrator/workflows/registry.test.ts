import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { findWorkflow } from "../../adapters/postgres/queries/workflows.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { createLogger } from "../../adapters/runtime/logger.ts";
import { watchFolders } from "../../adapters/workflow-files/watch-folders.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { taskQueues } from "../../core/queues.ts";
import { createWorkflowRegistry } from "./registry.ts";

const good = (message: string) => `nodes: { a: { handler: echo, params: { m: ${message} } } }`;

describe("the registry of workflow files", () => {
  let database: TestDatabase;
  let folder: string;
  let lines: string[];
  const folders = temporaryFolders();

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    folder = await folders.make();
    lines = [];
  });
  afterAll(async () => {
    await database.drop();
    await folders.remove();
  });

  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);

  function open(paths: readonly string[] = [folder], queries?: { count: number }) {
    const destination = {
      write(line: string) {
        lines.push((JSON.parse(line) as { msg: string }).msg);
      },
    };
    const { db } = database;
    const counted: Queryable = {
      query: (...args) => {
        if (queries !== undefined) queries.count++;
        return db.query(...args);
      },
    };
    return createWorkflowRegistry({
      db: counted,
      paths,
      options: { handlers: handlerCatalogue, queues: new Set(taskQueues), env: new Set() },
      log: createLogger({ name: "test", level: "info", format: "json", destination }),
    });
  }

  it("keeps the last good version of a broken file in force, and logs the refusal once", async () => {
    await write("kept.yaml", good("1"));
    const registry = open();
    const first = await registry.current("kept");
    await write("kept.yaml", "nodes: { a: { handler: nothing_such } }");
    for (let pass = 0; pass < 3; pass++) {
      await registry.refresh();
      expect((await registry.current("kept")).hash).toBe(first.hash);
    }
    const refusals = lines.filter((line) => line.startsWith("workflow kept was refused: "));
    expect(refusals).toEqual([
      expect.stringMatching(/kept\.yaml:1:\d+ .*nothing_such.*its last good version stays/),
    ]);
    await expect(registry.newest("kept")).rejects.toMatchObject({ code: "INVALID_WORKFLOW" });

    lines = [];
    await write("kept.yaml", good("2"));
    await registry.refresh();
    expect(lines).toEqual(["workflow kept has changed"]);
    expect((await registry.newest("kept")).hash).not.toBe(first.hash);
  });

  it("keeps the last good version over a restart, and refuses a file that never was good", async () => {
    await write("over.yaml", good("1"));
    const { hash } = await open().current("over");
    await write("over.yaml", "nodes: [");
    await write("never.yaml", "nodes: [");
    const restarted = open();
    expect((await restarted.current("over")).hash).toBe(hash);
    await expect(restarted.current("never")).rejects.toMatchObject({ code: "INVALID_WORKFLOW" });
    await expect(restarted.current("none")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });

  it("refuses a second file with the same id, also one that comes first in the folder", async () => {
    await write("middle.yaml", good("1"));
    const registry = open();
    const { hash } = await registry.current("middle");
    await write("a_first.yaml", `workflow_id: middle\n${good("2")}`);
    await write("z_last.yaml", `workflow_id: middle\n${good("3")}`);
    await write("copy.yaml", `workflow_id: middle\n${good("1")}`);
    await registry.refresh();
    expect((await registry.current("middle")).hash).toBe(hash);
    const told = lines.filter((line) => line.includes("was refused"));
    expect(told.length).toBe(2);
    expect(told[0]).toMatch(
      /^workflow a_first was refused: .*"middle" is already defined in .*middle\.yaml/,
    );
    await rm(path.join(folder, "middle.yaml"));
    await rm(path.join(folder, "copy.yaml"));
    expect((await registry.current("middle")).hash).not.toBe(hash);
  });

  it("forgets a deleted file, and marks its workflow as not active", async () => {
    await write("gone.yaml", good("1"));
    await write("other.yaml", good("1"));
    const registry = open();
    await registry.current("gone");
    await rm(path.join(folder, "gone.yaml"));
    await registry.refresh();
    expect(lines).toContain("workflow gone is gone: no file defines it any more");
    await expect(registry.current("gone")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    expect((await findWorkflow(database.db, "gone"))?.is_active).toBe(false);
    await write("gone.yaml", good("1"));
    await registry.refresh();
    expect((await findWorkflow(database.db, "gone"))?.is_active).toBe(true);
  });

  it("reads only what changed, once for forty submissions", async () => {
    for (let each = 0; each < 30; each++) await write(`w${each}.yaml`, good(String(each)));
    const queries = { count: 0 };
    const registry = open([folder], queries);
    await registry.current("w0");
    expect(queries.count).toBe(30);
    await write("w7.yaml", good("changed"));
    queries.count = 0;
    const answers = await Promise.all(Array.from({ length: 40 }, () => registry.current("w7")));
    expect(new Set(answers.map(({ hash }) => hash)).size).toBe(1);
    expect(queries.count).toBe(1);
  });

  it("reads an optional folder once it is there, and misses another", async () => {
    const own = path.join(folder, "own");
    const registry = open([`${own}?`, path.join(folder, "none")]);
    expect((await registry.reload()).map(({ file }) => file)).toEqual([path.join(folder, "none")]);
    await mkdir(own);
    expect(await registry.reload()).toHaveLength(1);
    await writeFile(path.join(own, "late.yaml"), good("1"));
    expect((await registry.current("late")).definition.version).toBe("1");
  });

  it("hears of new, replaced and deleted files, and of a folder that comes later", async () => {
    const later = path.join(folder, "later");
    let told = 0;
    const watch = watchFolders([folder, later], () => told++);
    const after = async (change: () => Promise<unknown>) => {
      const before = told;
      await change();
      await waitFor(() => told > before, { what: "the change is told" });
    };
    try {
      await after(() => write("new.yaml", good("1")));
      await after(async () => {
        await write("tmp", good("2"));
        await rename(path.join(folder, "tmp"), path.join(folder, "new.yaml"));
      });
      await after(() => rm(path.join(folder, "new.yaml")));
      await after(() => mkdir(later));
      watch.renew();
      await after(() => writeFile(path.join(later, "x.yaml"), good("1")));
    } finally {
      watch.close();
    }
  });
});
