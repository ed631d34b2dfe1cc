import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../test/support/database.ts";
import { createTestDatabase } from "../../test/support/database.ts";
import { readMigrations } from "../adapters/postgres/migration-files.ts";
import { createStartChecks } from "./start-checks.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function schemaResult(): Promise<string | undefined> {
  const checks = createStartChecks(database.db);
  await checks.runOnce();
  return checks.results()["schema"];
}

it("lives with a newer schema that says so, and with no other", async () => {
  const { length: known } = await readMigrations();
  const add = (version: number, oldest: number | null) =>
    database.db.query(
      `INSERT INTO dagapp.schema_migrations (version, name, checksum, oldest_program)
       VALUES ($1, 'newer', 'x', $2)`,
      [version, oldest],
    );
  expect(await schemaResult()).toBe("ok");
  await add(known + 1, known);
  expect(await schemaResult()).toBe("ok");
  await add(known + 2, null);
  expect(await schemaResult()).toMatch(/does not know: upgrade the gateway/);
});
