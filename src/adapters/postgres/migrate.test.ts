import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import { migrate } from "./migrate.ts";
import { readMigrations } from "./migration-files.ts";
import { checkSchema } from "./schema-version.ts";

let test: TestDatabase;
let directory: string;
beforeEach(async () => {
  test = await createTestDatabase({ empty: true });
  directory = await mkdtemp(path.join(tmpdir(), "rmhdag-migrations-"));
  await write("0001_first.sql", "CREATE TABLE first (id int);");
  await write("0002_second.sql", "CREATE TABLE second (id int);\nINSERT INTO second VALUES (1);");
});
afterEach(async () => {
  await test.drop();
  await rm(directory, { recursive: true });
});

const write = (name: string, sql: string) => writeFile(path.join(directory, name), sql);
const run = () => migrate(test.url, { directory });

it("applies each file once, in order, and answers their names", async () => {
  const log: string[] = [];
  expect(await migrate(test.url, { directory, log: (line) => log.push(line) })).toEqual({
    applied: ["0001_first.sql", "0002_second.sql"],
    version: 2,
  });
  expect(log).toEqual(["applied 0001_first.sql", "applied 0002_second.sql"]);
  expect(await run()).toEqual({ applied: [], version: 2 });
  await write("0003_third.sql", "CREATE TABLE third (id int);");
  expect(await run()).toEqual({ applied: ["0003_third.sql"], version: 3 });
});

it("rolls back a file that fails, and continues there the next time", async () => {
  await write("0003_third.sql", "CREATE TABLE third (id int);\nSELECT nonsense;");
  await expect(run()).rejects.toMatchObject({
    code: "MIGRATION_FAILED",
    message: expect.stringMatching(/0003_third.sql .*"nonsense".*\(line 2\)/) as string,
  });
  const { rows } = await test.db.query(
    "SELECT to_regclass('second')::text AS second, to_regclass('third')::text AS third",
  );
  expect(rows).toEqual([{ second: "second", third: null }]);
  await write("0003_third.sql", "CREATE TABLE third (id int);");
  expect(await run()).toEqual({ applied: ["0003_third.sql"], version: 3 });
});

it("applies each file once for twenty migrators at a time", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, run));
  expect(all.flatMap(({ applied }) => applied)).toEqual(["0001_first.sql", "0002_second.sql"]);
  expect((await test.db.query("SELECT id FROM second")).rows).toEqual([{ id: 1 }]);
});

it("applies each file once for four processes at a time", async () => {
  const program = `
    const { migrate } = await import(process.argv[1]);
    const { applied } = await migrate(process.argv[2], { directory: process.argv[3] });
    process.stdout.write(applied.join());`;
  const migrator = new URL("../../../dist/adapters/postgres/migrate.js", import.meta.url).href;
  const parameters = ["--input-type=module", "-e", program, migrator, test.url, directory];
  const all = await Promise.all(
    Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, parameters)),
  );
  expect(all.map(({ stdout }) => stdout).join("")).toBe("0001_first.sql,0002_second.sql");
});

it("refuses a file that was edited after it was applied", async () => {
  await run();
  await write("0001_first.sql", "CREATE TABLE first (id bigint);");
  await expect(run()).rejects.toMatchObject({
    code: "MIGRATION_EDITED",
    message: expect.stringMatching(/0001_first.sql .* into a new migration/) as string,
  });
});

it("takes other line ends for the same file", async () => {
  await run();
  await write("0002_second.sql", "CREATE TABLE second (id int);\r\nINSERT INTO second VALUES (1);");
  expect((await run()).applied).toEqual([]);
});

it.each([
  ["a gap", "0004_fourth.sql"],
  ["a repeated number", "0002_other.sql"],
  ["a name without a number", "third.sql"],
])("refuses %s in the files", async (_, name) => {
  await write(name, "SELECT 1;");
  await expect(run()).rejects.toMatchObject({ code: "MIGRATION_NUMBERING" });
});

it("ignores the dump of the schema beside the files", async () => {
  await write("schema.sql", "nonsense");
  expect(await readMigrations(directory)).toHaveLength(2);
});

it("refuses to start on an older database, and names the command that migrates", async () => {
  await expect(checkSchema(test.db, { directory })).rejects.toMatchObject({
    code: "SCHEMA_TOO_OLD",
    message: "The database is at version 0 and this program needs 2: run `rmhdag migrate`.",
  });
  await run();
  await checkSchema(test.db, { directory });
});

it("refuses a newer database with the advice to upgrade, and migrates nothing", async () => {
  await write("0003_third.sql", "CREATE TABLE third (id int);");
  await run();
  await rm(path.join(directory, "0003_third.sql"));
  const tooNew = {
    code: "SCHEMA_TOO_NEW",
    message: expect.stringContaining("it knows up to 2, the database is at 3") as string,
  };
  await expect(checkSchema(test.db, { directory })).rejects.toMatchObject(tooNew);
  await expect(run()).rejects.toMatchObject(tooNew);
});

it("lives with a newer database whose files say so, and migrates nothing", async () => {
  const additive = "-- Programs from 2 on can live with this schema.\nCREATE TABLE third (id int);";
  await write("0003_third.sql", additive);
  await run();
  await rm(path.join(directory, "0003_third.sql"));
  await checkSchema(test.db, { directory });
  expect((await run()).applied).toEqual([]);
});

it("brings an empty database to the newest of our own files", async () => {
  const files = await readMigrations();
  expect(await migrate(test.url)).toEqual({
    applied: files.map(({ name }) => name),
    version: files.length,
  });
  await checkSchema(test.db);
});
