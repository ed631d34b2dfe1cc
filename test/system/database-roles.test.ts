/** What the database users of the programs can and cannot do, on the oldest and newest PostgreSQL here. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainQueues } from "../../src/adapters/broker/postgres-broker/sql/maintain.ts";
import type { EmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";
import { findBinaries } from "../../src/adapters/embedded-postgres/find-binaries.ts";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { readRights } from "../../src/adapters/postgres/roles/read-rights.ts";
import { asOwner, secureServer } from "../../src/adapters/postgres/roles/secure-server.ts";
import { makeProgramUser } from "../support/database-user.ts";
import { waitFor } from "../support/wait.ts";

const forbidden = "42501";
const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");

/** Tables of partners and of secrets, which no worker reads: named here, not taken from the code. */
const closedTables = [
  "access_tokens",
  "api_keys",
  "asset_events",
  "asset_revisions",
  "callback_attempts",
  "callback_deliveries",
  "callback_hosts",
  "console_sessions",
  "layer_catalog",
  "layer_metadata",
  "login_codes",
  "requests",
];
const domainTables = [
  ...closedTables,
  "asset_jobs",
  "asset_versions",
  "geospatial_assets",
  "platforms",
];
const engineTables = ["dag_jobs", "dag_job_events", "dag_workflows", "dag_workflow_versions"];

/** The database's answer to a statement, which is rolled back: its code, or `done`. */
async function attempt(client: pg.Client, text: string): Promise<string> {
  await client.query("BEGIN");
  try {
    await client.query(text);
    return "done";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await client.query("ROLLBACK");
  }
}

/** The statements that were not refused for want of a right. */
async function allowed(client: pg.Client, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const text of texts) {
    const answer = await attempt(client, text);
    if (answer !== forbidden) found.push(`${text}: ${answer}`);
  }
  return found;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // A test that fails leaves its connections to the end of the server.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const changesOf = (table: string) => [
  `INSERT INTO dagapp.${table} DEFAULT VALUES`,
  `DELETE FROM dagapp.${table}`,
  `TRUNCATE dagapp.${table}`,
  `ALTER TABLE dagapp.${table} ADD COLUMN mine text`,
  `DROP TABLE dagapp.${table}`,
];

/** What no program may do anywhere. */
const never = [
  "CREATE TABLE dagapp.mine (id int)",
  "CREATE TABLE public.mine (id int)",
  "CREATE TEMPORARY TABLE mine (id int)",
  "CREATE SCHEMA mine",
  "CREATE ROLE mine",
  "ALTER ROLE rmhdag_worker SUPERUSER",
  "SET ROLE rmhdag_owner",
  "DROP SCHEMA dagapp CASCADE",
  "CREATE OR REPLACE VIEW gateway.requests AS SELECT 1 AS request_id",
  "CREATE OR REPLACE FUNCTION dagapp.expect(holds boolean) RETURNS void LANGUAGE sql AS ''",
  "ALTER TABLE dagapp.dag_jobs DISABLE TRIGGER ALL",
  "SET session_replication_role = replica",
  "INSERT INTO dagapp.schema_migrations VALUES (99, 'x', 'x')",
  "COPY (SELECT 1) TO PROGRAM 'cat'",
  "SELECT pg_read_file('/etc/passwd')",
  "SELECT lo_create(0)",
];

const hasSystem = (await findBinaries("system")).length > 0;
const servers = [
  { prefer: "npm", title: "PostgreSQL 18", exists: true },
  { prefer: "system", title: "the PostgreSQL of this machine (needs one)", exists: hasSystem },
] as const;

describe.each(servers)("users of the programs on $title", ({ prefer, exists }) => {
  describe.runIf(exists)("", () => {
    let folder: string;
    let server: EmbeddedPostgres;
    const opened: { end(): Promise<void> }[] = [];
    let orchestratorDb: Database;
    let clients: Record<"orchestrator" | "worker" | "gateway", pg.Client>;
    let gatewayUrl: string;

    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), "rmhdag-roles-"));
      server = await startEmbeddedPostgres({ dataDirectory: folder, prefer, sync: false });
      await secureServer(server.url);
      await migrate(asOwner(server.url));
      const [orchestrator, worker, gateway] = await Promise.all([
        makeProgramUser(server.url, "rmhdag_orchestrator"),
        makeProgramUser(server.url, "rmhdag_worker"),
        makeProgramUser(server.url, "rmhdag_gateway"),
      ]);
      gatewayUrl = gateway.url;
      clients = {
        orchestrator: await connect(orchestrator.url),
        worker: await connect(worker.url),
        gateway: await connect(gateway.url),
      };
      opened.push(...Object.values(clients));
      orchestratorDb = openDatabase({ url: orchestrator.url, applicationName: "test", max: 1 });
    });
    afterAll(async () => {
      await orchestratorDb.close();
      for (const client of opened) await client.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it("have the rights that they should have, and the schema has an owner without a login", async () => {
      const admin = await connect(server.url);
      opened.push(admin);
      expect(await readRights(admin)).toEqual({ missingRoles: [], rights: [], owners: [] });
      const { rows } = await admin.query(
        `SELECT rolname, rolsuper, rolcanlogin FROM pg_roles WHERE oid IN (
           SELECT nspowner FROM pg_namespace WHERE nspname IN ('dagapp', 'geo', 'gateway')
           UNION SELECT datdba FROM pg_database WHERE datname = current_database())`,
      );
      expect(rows).toEqual([{ rolname: "rmhdag_owner", rolsuper: false, rolcanlogin: false }]);
    });

    it("orchestrator: changes rows of every table, and no table", async () => {
      const { orchestrator } = clients;
      const all = [...domainTables, ...engineTables, "dag_queue_ready", "stac_items"];
      for (const table of all) {
        expect([table, await attempt(orchestrator, `DELETE FROM dagapp.${table}`)]).toEqual([
          table,
          "done",
        ]);
      }
      expect(
        await allowed(orchestrator, [
          ...never,
          ...[...domainTables, ...engineTables].flatMap((table) => [
            `TRUNCATE dagapp.${table}`,
            `ALTER TABLE dagapp.${table} ADD COLUMN mine text`,
            `DROP TABLE dagapp.${table}`,
          ]),
        ]),
      ).toEqual([]);
    });

    it("worker: changes no domain table and no job, and reads neither partners nor secrets", async () => {
      const { worker } = clients;
      expect(
        await allowed(worker, [
          ...never,
          ...closedTables.map((table) => `SELECT FROM dagapp.${table}`),
          ...domainTables.flatMap(changesOf),
          ...engineTables.flatMap(changesOf),
          "UPDATE dagapp.dag_node_states SET status = 'completed'",
          "UPDATE dagapp.dag_jobs SET status = 'completed'",
          "UPDATE dagapp.dag_task_results SET output = NULL",
          "DELETE FROM dagapp.dag_checkpoints",
          "UPDATE dagapp.dag_push_servers SET key = 'mine'",
          "TRUNCATE dagapp.dag_queue_ready",
          "ALTER TABLE dagapp.dag_queue_ready ADD COLUMN mine text",
          "SELECT FROM gateway.requests",
        ]),
      ).toEqual([]);
    });

    it("worker: makes a layer's table that another worker and the orchestrator can use", async () => {
      const { worker, orchestrator } = clients;
      const other = await makeProgramUser(server.url, "rmhdag_worker");
      const second = await connect(other.url);
      await worker.query("CREATE TABLE geo.layer (id int); INSERT INTO geo.layer VALUES (1)");
      const { rows } = await orchestrator.query("SELECT id FROM geo.layer");
      expect(rows).toEqual([{ id: 1 }]);
      expect(await attempt(clients.gateway, "SELECT FROM geo.layer")).toBe(forbidden);
      await second.query("ANALYZE geo.layer; DROP TABLE geo.layer");
      await second.end();
      await other.remove();
    });

    it("orchestrator: really vacuums the queues", async () => {
      await orchestratorDb.query(
        `INSERT INTO dagapp.dag_queue_ready (queue, message_key, body)
         SELECT 'q', n::text, '' FROM generate_series(1, 3000) AS n`,
      );
      await orchestratorDb.query("DELETE FROM dagapp.dag_queue_ready");
      await waitFor(
        async () => {
          await maintainQueues(orchestratorDb);
          const { rows } = await orchestratorDb.query<{ count: number }>(
            `SELECT vacuum_count::integer AS count FROM pg_stat_user_tables
             WHERE relname = 'dag_queue_ready'`,
          );
          return rows[0]!.count > 0;
        },
        { what: "a vacuum that the server has counted" },
      );
    });

    it("gateway: only reads, in this database only, for a limited time, on few connections", async () => {
      const { gateway } = clients;
      expect(
        await allowed(gateway, ["SELECT FROM dagapp.requests", "SELECT FROM dagapp.dag_jobs"]),
      ).toEqual([]);
      expect(await attempt(gateway, "SELECT FROM gateway.requests")).toBe("done");
      const { rows } = await gateway.query(
        `SELECT current_setting('statement_timeout') AS timeout,
           current_setting('default_transaction_read_only') AS read_only,
           (SELECT rolconnlimit FROM pg_roles WHERE rolname = session_user) AS connections`,
      );
      expect(rows).toEqual([{ timeout: "30s", read_only: "on", connections: 20 }]);
      for (const database of ["postgres", "template1"]) {
        const url = new URL(gatewayUrl);
        url.pathname = database;
        await expect(connect(url.href)).rejects.toMatchObject({ code: forbidden });
      }
    });

    it("have their rights after a dump was restored on a server that knows no role of ours", async ({
      skip,
    }) => {
      const version = await run("pg_dump", ["--version"]).catch(() => undefined);
      const major = /(\d+)/.exec(version?.stdout ?? "")?.[1];
      if (major === undefined || !server.version.startsWith(`${major}.`)) {
        skip("this machine lacks pg_dump of the server's version");
      }
      const dump = path.join(folder, "site.sql");
      await run("pg_dump", ["--dbname", server.url, "--no-owner", "--no-acl", "--file", dump]);
      const second = await mkdtemp(path.join(tmpdir(), "rmhdag-restored-"));
      const restored = await startEmbeddedPostgres({ dataDirectory: second, prefer, sync: false });
      try {
        await run("psql", [restored.url, "-v", "ON_ERROR_STOP=1", "-f", dump]);
        await migrate(restored.url);
        const client = await connect(restored.url);
        expect(await readRights(client)).toEqual({ missingRoles: [], rights: [], owners: [] });
        await client.end();
      } finally {
        await restored.stop();
        await rm(second, { recursive: true, force: true });
      }
    });

    it("are made by an administrator's script, and a second site on the server stays apart", async ({
      skip,
    }) => {
      if ((await run("psql", ["--version"]).catch(() => undefined)) === undefined) {
        skip("this machine lacks psql");
      }
      const admin = await connect(server.url);
      opened.push(admin);
      await admin.query("CREATE DATABASE second");
      const url = new URL(server.url);
      url.pathname = "second";
      const passwords = ["migrator", "orchestrator", "worker", "gateway"].flatMap((name) => [
        "-v",
        `${name}_password=secret`,
      ]);
      const script = path.join(root, "deploy/roles.sql");
      const args = [url.href, "-v", "ON_ERROR_STOP=1", "-v", "suffix=_b", ...passwords];
      for (let time = 0; time < 2; time++) await run("psql", [...args, "-f", script]);
      const as = (program: string, database = "second") => {
        const own = new URL(url.href);
        own.username = `rmhdag_${program}_login_b`;
        own.password = "secret";
        own.pathname = database;
        return own.href;
      };
      await migrate(as("migrator"));
      const migrator = await connect(as("migrator"));
      opened.push(migrator);
      expect(await readRights(migrator)).toEqual({ missingRoles: [], rights: [], owners: [] });
      const worker = await connect(as("worker"));
      opened.push(worker);
      expect(await attempt(worker, "CREATE TABLE geo.mine (id int)")).toBe("done");
      expect(await allowed(worker, ["SELECT FROM dagapp.requests"])).toEqual([]);
      for (const program of ["orchestrator", "worker", "gateway"]) {
        await expect(connect(as(program, "rmhdag"))).rejects.toMatchObject({ code: forbidden });
      }
      await expect(migrate(as("orchestrator"))).resolves.toMatchObject({ applied: [] });
    });
  });
});
