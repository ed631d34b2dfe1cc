import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { findBinaries } from "../embedded-postgres/find-binaries.ts";
import { startEmbeddedPostgres } from "../embedded-postgres/start-embedded-postgres.ts";
import { openDatabase } from "./database.ts";
import { dumpSchema } from "./dump-schema.ts";
import { migrate } from "./migrate.ts";

/** Roles belong to the server, which other test files use at the same time. */
const reader = `reader_${randomBytes(4).toString("hex")}`;

/** One of everything that a migration may make. */
const everything = `
  CREATE ROLE ${reader} NOLOGIN;
  CREATE SCHEMA geo;
  CREATE TYPE geo.state AS ENUM ('new', 'it''s old');
  CREATE DOMAIN geo.name AS text NOT NULL CONSTRAINT short CHECK (length(VALUE) < 10);
  CREATE SEQUENCE geo.ordinal AS integer START 5;
  CREATE FUNCTION geo.twice(n integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
  CREATE FUNCTION geo.touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
  CREATE TABLE geo.place (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "Odd name" geo.name DEFAULT 'x',
    state geo.state NOT NULL DEFAULT 'new',
    size numeric(10, 2) CHECK (size > 0),
    twice integer GENERATED ALWAYS AS (3 * 2) STORED,
    note text COLLATE "C",
    dropped text,
    area box,
    EXCLUDE USING gist (area WITH &&)
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
  ALTER TABLE geo.place DROP COLUMN dropped;
  CREATE TABLE geo.visit (
    place_id bigint NOT NULL REFERENCES geo.place ON DELETE CASCADE,
    at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (place_id, at)
  );
  CREATE TABLE geo.log (at date NOT NULL, line text) PARTITION BY RANGE (at);
  CREATE TABLE geo.log_2024 PARTITION OF geo.log FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
  CREATE UNLOGGED TABLE geo.cache (key text PRIMARY KEY);
  CREATE INDEX place_by_state ON geo.place (state, id DESC) WHERE size IS NOT NULL;
  CREATE INDEX log_by_line ON geo.log (line);
  CREATE VIEW geo.places AS SELECT p.id, v.at, geo.twice(3) AS six
    FROM geo.place p JOIN geo.visit v ON v.place_id = p.id WHERE p.state = 'new';
  CREATE TRIGGER touched BEFORE UPDATE ON geo.place FOR EACH ROW EXECUTE FUNCTION geo.touch();
  COMMENT ON SCHEMA geo IS 'shapes';
  COMMENT ON TABLE geo.place IS 'where';
  COMMENT ON COLUMN geo.place."Odd name" IS 'it''s odd';
  GRANT USAGE ON SCHEMA geo TO ${reader};
  GRANT SELECT ON geo.place, geo.places TO ${reader};
  ALTER DEFAULT PRIVILEGES IN SCHEMA geo GRANT SELECT ON TABLES TO ${reader};
`;

const folders = temporaryFolders();
let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase({ empty: true });
});
afterEach(async () => {
  await test.db.query(`DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${reader}') THEN
      DROP OWNED BY ${reader}; DROP ROLE ${reader};
    END IF; END $$`);
  await test.drop();
});
afterAll(() => folders.remove());

it("names everything that a migration can make", async () => {
  await test.db.query(everything);
  const dump = await dumpSchema(test.db);
  for (const part of [
    `CREATE ROLE ${reader} NOLOGIN;`,
    `'it''s old'`,
    "CREATE DOMAIN geo.name AS text NOT NULL CONSTRAINT short CHECK",
    "CREATE SEQUENCE geo.ordinal AS integer",
    `"Odd name" geo.name DEFAULT 'x'::text`,
    "id bigint NOT NULL GENERATED ALWAYS AS IDENTITY",
    "size numeric(10,2)",
    "GENERATED ALWAYS AS ((3 * 2)) STORED",
    `note text COLLATE "C"`,
    "WITH (autovacuum_vacuum_scale_factor=0.01, fillfactor=70)",
    "CREATE UNLOGGED TABLE geo.cache",
    "PARTITION BY RANGE (at)",
    "CREATE TABLE geo.log_2024 PARTITION OF geo.log FOR VALUES FROM",
    "EXCLUDE USING gist (area WITH &&)",
    "REFERENCES geo.place(id) ON DELETE CASCADE",
    "CREATE INDEX place_by_state ON geo.place USING btree (state, id DESC) WHERE (size IS NOT NULL);",
    "CREATE VIEW geo.places AS",
    "CREATE TRIGGER touched BEFORE UPDATE ON geo.place",
    "CREATE OR REPLACE FUNCTION geo.twice(n integer)",
    `COMMENT ON COLUMN geo.place."Odd name" IS 'it''s odd';`,
    `GRANT SELECT ON TABLE geo.place TO ${reader};`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA geo GRANT SELECT ON TABLES TO ${reader};`,
  ]) {
    expect(dump).toContain(part);
  }
  expect(dump).not.toContain("dropped");
});

it("is SQL that makes the same schema again", async () => {
  await test.db.query(everything);
  await migrate(test.url);
  const dump = await dumpSchema(test.db);
  const copy = await createTestDatabase({ empty: true });
  await copy.db.query(dump.replace(/^CREATE ROLE .*$/gm, ""));
  expect(await dumpSchema(copy.db)).toBe(dump);
  await copy.drop();
});

it("does not depend on the search path", async () => {
  await test.db.query(everything);
  const dump = await dumpSchema(test.db);
  const url = `${test.url}?options=-c%20search_path%3Dgeo,public`;
  const other = openDatabase({ url, applicationName: "other path" });
  expect(await dumpSchema(other)).toBe(dump);
  await other.close();
});

const [system] = await findBinaries("system");
it.skipIf(system === undefined)(
  "is the same text on the system's PostgreSQL (needs PostgreSQL)",
  async () => {
    await test.db.query(everything);
    await migrate(test.url);
    const dump = await dumpSchema(test.db);

    const dataDirectory = await folders.make();
    const server = await startEmbeddedPostgres({ dataDirectory, binaries: system!, sync: false });
    const db = openDatabase({ url: server.url, applicationName: "system" });
    await db.query(everything);
    await migrate(server.url);
    expect(await dumpSchema(db)).toBe(dump);
    await db.close();
    await server.stop();
  },
);
