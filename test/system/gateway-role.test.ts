import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { makeLogins } from "../../src/adapters/postgres/roles/make-login.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { makeGatewayUser } from "../support/database-user.ts";

let database: TestDatabase;
let user: Awaited<ReturnType<typeof makeGatewayUser>>;
let client: pg.Client;

/** Migrated here and not cloned: a clone does not keep the rights on the database itself. */
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  await migrate(database.url);
  user = await makeGatewayUser(database.url);
  client = new pg.Client({ connectionString: user.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await user.remove();
  await database.drop();
});

/** The code of the database's refusal, or `done`. */
async function attempt(text: string, connection = client): Promise<string> {
  try {
    // Some statements want a transaction; what is sent as one text is one.
    // Its sessions only read by default: here the rights must refuse, not that setting.
    await connection.query(`BEGIN READ WRITE; ${text}; COMMIT`);
    return "done";
  } catch (error) {
    await connection.query("ROLLBACK");
    return (error as { code?: string }).code ?? String(error);
  }
}

const forbidden = "42501";
/** A view that joins refuses writes from every role. */
const refusals = [forbidden, "55000", "0A000"];

async function relations(schemas: readonly string[], kinds: readonly string[]) {
  const { rows } = await database.db.query<{ name: string; column: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name,
       (SELECT quote_ident(attname) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 ORDER BY attnum LIMIT 1) AS column
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = ANY ($1) AND relkind = ANY ($2) ORDER BY 1`,
    [schemas, kinds],
  );
  return rows;
}

describe("the gateway's user", () => {
  it("reads every view that is made for it", async () => {
    const views = await relations(["gateway"], ["v"]);
    expect(views.length).toBeGreaterThan(10);
    for (const { name } of views) {
      expect([name, await attempt(`SELECT * FROM ${name} LIMIT 1`)]).toEqual([name, "done"]);
    }
  });

  it("reads no table", async () => {
    const tables = await relations(["dagapp", "geo"], ["r", "p", "v", "m"]);
    expect(tables.length).toBeGreaterThan(25);
    for (const { name } of tables) {
      expect([name, await attempt(`SELECT 1 FROM ${name}`)]).toEqual([name, forbidden]);
    }
  });

  it("changes nothing, in no table and through no view", async () => {
    for (const { name, column } of await relations(
      ["dagapp", "geo", "gateway"],
      ["r", "p", "v", "m"],
    )) {
      for (const text of [
        `INSERT INTO ${name} (${column}) SELECT NULL`,
        `UPDATE ${name} SET ${column} = NULL`,
        `DELETE FROM ${name}`,
        `SELECT 1 FROM ${name} FOR UPDATE`,
        `LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`,
        `DO $$ BEGIN DELETE FROM ${name}; END $$`,
        `WITH gone AS (DELETE FROM ${name} RETURNING 1) SELECT * FROM gone`,
      ]) {
        expect([text, refusals.includes(await attempt(text))]).toEqual([text, true]);
      }
    }
    for (const { name } of await relations(["dagapp", "geo"], ["r", "p"])) {
      expect(await attempt(`TRUNCATE ${name}`)).toBe(forbidden);
      expect(await attempt(`COPY ${name} FROM STDIN`)).toBe(forbidden);
      expect(await attempt(`DROP TABLE ${name}`)).toBe(forbidden);
      expect(await attempt(`ALTER TABLE ${name} ADD COLUMN mine text`)).toBe(forbidden);
    }
    for (const { name } of await relations(["dagapp"], ["S"])) {
      expect(await attempt(`SELECT nextval('${name}')`)).toBe(forbidden);
    }
  });

  it("defines nothing, not even for the length of a session", async () => {
    const attempts = [
      "CREATE TABLE mine (id int)",
      "CREATE TABLE public.mine (id int)",
      "CREATE TABLE gateway.mine (id int)",
      "CREATE TABLE dagapp.mine (id int)",
      "CREATE TEMPORARY TABLE mine (id int)",
      "CREATE TEMPORARY VIEW mine AS SELECT 1",
      "SELECT 1 AS id INTO TEMPORARY mine",
      "CREATE SCHEMA mine",
      "CREATE VIEW gateway.mine AS SELECT 1",
      "CREATE OR REPLACE VIEW gateway.requests AS SELECT 1 AS request_id",
      "CREATE FUNCTION gateway.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
      "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
      "DROP VIEW gateway.requests",
      "DROP SCHEMA gateway CASCADE",
      "ALTER VIEW gateway.requests OWNER TO current_user",
      "CREATE ROLE mine",
      "ALTER ROLE rmhdag_gateway SUPERUSER",
      "ALTER ROLE current_user CREATEROLE",
      "SET ROLE postgres",
      "CREATE EXTENSION dblink",
      "ALTER DATABASE current SET work_mem = '1GB'",
      "COPY (SELECT 1) TO PROGRAM 'cat'",
      "COPY (SELECT 1) TO '/tmp/rmhdag-gateway-role'",
      "SELECT lo_create(0)",
      "SELECT lo_from_bytea(0, 'x')",
      "SELECT pg_read_file('/etc/passwd')",
      "SELECT pg_reload_conf()",
    ];
    const done: string[] = [];
    for (const text of attempts) if ((await attempt(text)) === "done") done.push(text);
    expect(done).toEqual([]);
    const { rows } = await database.db.query(
      `SELECT relname FROM pg_class WHERE relname = 'mine'
       UNION ALL SELECT oid::text FROM pg_largeobject_metadata`,
    );
    expect(rows).toEqual([]);
  });

  it("gives nobody a right of its own", async () => {
    // The server only warns, and grants nothing.
    await attempt("GRANT SELECT ON gateway.requests TO PUBLIC");
    const { rows } = await database.db.query<{ acl: string }>(
      "SELECT relacl::text AS acl FROM pg_class WHERE oid = 'gateway.requests'::regclass",
    );
    expect(rows[0]!.acl).not.toMatch(/[{,]=/);
  });

  it("calls no function of ours", async () => {
    const { rows } = await database.db.query<{ name: string }>(
      `SELECT format('%I.%I', nspname, proname) AS name FROM pg_proc
       JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname IN ('dagapp', 'geo', 'gateway')`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { name } of rows) {
      expect([name, await attempt(`SELECT ${name}()`)]).not.toEqual([name, "done"]);
    }
  });
});

describe("a migrator that may not create roles", () => {
  const name = `rmhdag_test_limited_${process.pid}`;
  let limited: TestDatabase;
  let url: URL;
  const said: string[] = [];

  // The role is the whole server's, so for this one database another name stands for it.
  const renamed = `rmhdag_gateway_${process.pid}`;

  beforeAll(async () => {
    limited = await createTestDatabase({ empty: true });
    await limited.db.query(`CREATE ROLE ${name} LOGIN PASSWORD 'limited'`);
    const { rows } = await limited.db.query<{ name: string }>("SELECT current_database() AS name");
    await limited.db.query(`ALTER DATABASE ${rows[0]!.name} OWNER TO ${name}`);
    url = new URL(limited.url);
    url.username = name;
    url.password = "limited";
  });
  afterAll(async () => {
    await limited.drop();
    await database.db.query(`DROP ROLE ${name}`);
  });

  it("migrates all the same, and grants what it can", async () => {
    await migrate(url.href, { log: (line) => said.push(line) });
    expect(said.join("\n")).toContain("applied 0006_gateway.sql");
    const login = { role: "rmhdag_gateway", user: renamed, password: "x" } as const;
    expect(await makeLogins(url.href, [login])).toBe(false);
  });

  it("leaves the rest to an administrator's script", async ({ skip }) => {
    const file = path.resolve(import.meta.dirname, "../../deploy/gateway-role.sql");
    const psql = promisify(execFile);
    const isThere = await psql("psql", ["--version"]).catch(() => undefined);
    if (isThere === undefined) skip("this machine lacks psql");
    const args = [limited.url, "-v", "ON_ERROR_STOP=1", "-v", `login=${renamed}`];
    await psql("psql", [...args, "-v", "password=secret", "-f", file]);
    const own = new URL(limited.url);
    own.username = renamed;
    own.password = "secret";
    const connection = new pg.Client({ connectionString: own.href });
    await connection.connect();
    expect(await attempt("SELECT * FROM gateway.requests", connection)).toBe("done");
    expect(await attempt("SELECT * FROM dagapp.requests", connection)).toBe(forbidden);
    expect(await attempt("CREATE TEMPORARY TABLE mine (id int)", connection)).toBe(forbidden);
    await connection.end();
    await database.db.query(`DROP ROLE ${renamed}`);
  });
});
