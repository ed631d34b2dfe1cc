import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { readSchemaStatus } from "./queries/schema.ts";
import { rebuildSchema } from "./rebuild.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it("drops our schemas and creates the newest", async () => {
  const { db, url } = database;
  await db.query(
    "INSERT INTO dagapp.dag_workers VALUES ('w', 'here', 1, '1', ARRAY['q'], 1, 0, now(), now())",
  );
  const { version } = await rebuildSchema(url);
  expect(await readSchemaStatus(db)).toMatchObject({ version, current: true, pending: [] });
  const { rows } = await db.query("SELECT FROM dagapp.dag_workers");
  expect(rows).toEqual([]);
});

it("says what is missing in a database that has nothing of ours", async () => {
  const empty = await createTestDatabase({ empty: true });
  expect(await readSchemaStatus(empty.db)).toMatchObject({ version: 0, current: false });
  await empty.drop();
});
