import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";

export interface TestDatabase {
  readonly url: string;
  readonly db: Database;
  /** Ends every session on it and removes it. */
  drop(): Promise<void>;
}

export interface CreateTestDatabaseOptions {
  /** Without our schema: for tests of the migrations. */
  readonly empty?: boolean;
  readonly max?: number;
}

/** A database of a test file's own, cloned from the migrated template in about 50 ms. */
export async function createTestDatabase(
  options: CreateTestDatabaseOptions = {},
): Promise<TestDatabase> {
  const name = `rmhdag_test_${randomBytes(6).toString("hex")}`;
  const template = options.empty === true ? "template0" : inject("templateDatabase");
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(inject("serverUrl"));
  url.pathname = name;
  const db = openDatabase({
    url: url.href,
    applicationName: "rmhdag test",
    ...(options.max === undefined ? {} : { max: options.max }),
  });
  return {
    url: url.href,
    db,
    drop: async () => {
      await db.close();
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("serverUrl") });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
