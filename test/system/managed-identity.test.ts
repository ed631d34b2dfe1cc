/**
 * Programs that connect as managed identities to a PostgreSQL that only answers in TLS. A token of the
 * stand-in of Azure's token endpoint is the password of its role, and an earlier one opens no connection.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import { makeLogins } from "../../src/adapters/postgres/roles/make-login.ts";
import { secureServer } from "../../src/adapters/postgres/roles/secure-server.ts";
import { finished, Fleet, submit } from "../support/programs.ts";
import type { TlsPostgres } from "../support/tls-postgres.ts";
import { noOpenssl, startTlsPostgres } from "../support/tls-postgres.ts";
import { waitFor } from "../support/wait.ts";

const root = path.resolve(import.meta.dirname, "../..");
const header = randomBytes(8).toString("hex");
const programs = ["rmhdag_orchestrator", "rmhdag_worker"] as const;

describe.skipIf(noOpenssl !== undefined)("programs without passwords (needs openssl)", () => {
  let server: TlsPostgres;
  let db: Database;
  let fleet: Fleet;
  let folder: string;
  let endpoint: Server;
  /** By the names of the users, which are the client ids of their identities. */
  const tokens = new Map<string, string>();
  const asked: string[] = [];

  /** Makes new tokens the only ones that open a connection, and ends the connections that are open. */
  async function rotate(): Promise<void> {
    for (const user of tokens.keys()) {
      const token = randomBytes(24).toString("hex");
      await db.query(`ALTER ROLE ${user} PASSWORD '${token}'`);
      tokens.set(user, token);
      await db.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`, [
        user,
      ]);
    }
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-identity-"));
    const nodes = { a: { handler: "probe", params: { mode: "slow", seconds: 5 } } };
    await writeFile(path.join(folder, "slow.yaml"), JSON.stringify({ workflow_id: "slow", nodes }));
    server = await startTlsPostgres();
    db = openDatabase({ url: server.url, applicationName: "rmhdag test", max: 1 });
    await secureServer(server.url);
    await db.query("CREATE ROLE migrator LOGIN; GRANT rmhdag_owner TO migrator");
    await db.query("ALTER ROLE migrator SET role = rmhdag_owner");
    await makeLogins(
      server.url,
      programs.map((role) => ({ role, user: `${role}_login`, password: "replaced" })),
    );
    for (const user of ["migrator", ...programs.map((role) => `${role}_login`)]) {
      tokens.set(user, "");
    }
    await rotate();
    endpoint = createServer((request, response) => {
      const user = new URL(request.url ?? "", "http://x").searchParams.get("client_id") ?? "";
      const access_token = tokens.get(user);
      if (request.headers["x-identity-header"] !== header || access_token === undefined) {
        response.writeHead(400).end("{}");
        return;
      }
      asked.push(user);
      // It ends at once, so that each connection asks again.
      const expires_on = String(Math.floor(Date.now() / 1000) + 1);
      const body = { access_token, expires_on, token_type: "Bearer" };
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    fleet = new Fleet(server.url, folder);
  }, 120_000);
  afterAll(async () => {
    await fleet.stop();
    endpoint.close();
    await db.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function identity(user: string): Record<string, string> {
    const url = new URL(server.url);
    return {
      DATABASE_URL: "",
      POSTGRES_HOST: url.hostname,
      POSTGRES_PORT: url.port,
      POSTGRES_DB: url.pathname.slice(1),
      POSTGRES_USER: user,
      POSTGRES_SSLMODE: "verify-full",
      PGSSLROOTCERT: server.authority,
      USE_MANAGED_IDENTITY: "true",
      DB_ADMIN_MANAGED_IDENTITY_CLIENT_ID: user,
      IDENTITY_ENDPOINT: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/msi/token`,
      IDENTITY_HEADER: header,
    };
  }

  /** What the sessions of the programs are for, such as "orchestrator engine"; all of them in TLS. */
  async function sessions(): Promise<Set<string>> {
    const { rows } = await db.query<{ usename: string; application_name: string; ssl: boolean }>(
      `SELECT usename, application_name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE usename = ANY ($1)`,
      [[...tokens.keys()]],
    );
    expect(rows.every(({ ssl }) => ssl)).toBe(true);
    return new Set(
      rows.map(({ usename, application_name }) => {
        const purpose = /^\S+ (\w+)$/.exec(application_name)?.[1] ?? "pool";
        return `${usename.replace(/^rmhdag_|_login$/g, "")} ${purpose}`;
      }),
    );
  }

  it("migrates, and is refused without TLS, with another authority or another name", async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(root, "bin/rmhdag.js"), "migrate"],
      { env: { PATH: process.env["PATH"], RMHDAG_DATA_DIR: folder, ...identity("migrator") } },
    );
    expect(stdout).toMatch(/applied 0001_engine/);
    const refused = async (change: (url: URL) => void) => {
      const url = new URL(server.url);
      change(url);
      const client = new pg.Client({ connectionString: url.href });
      try {
        await client.connect();
      } finally {
        await client.end();
      }
    };
    await expect(
      refused((url) => {
        url.search = "?sslmode=disable";
      }),
    ).rejects.toThrow(/no encryption|SSL off/);
    await expect(
      refused((url) => {
        url.searchParams.delete("sslrootcert");
      }),
    ).rejects.toThrow(/certificate/);
    await expect(
      refused((url) => {
        url.hostname = "127.0.0.1";
      }),
    ).rejects.toThrow(/does not match|altnames/);
  }, 120_000);

  it("a token that ends is replaced while a task runs, in every connection of every program", async () => {
    const orchestrator = await fleet.orchestrator(identity("rmhdag_orchestrator_login"));
    await fleet.worker(identity("rmhdag_worker_login"));
    const job = await submit(orchestrator, "slow");
    const wanted = [
      ...["orchestrator pool", "orchestrator engine", "orchestrator listen"],
      ...["worker pool", "worker leases", "worker listen", "worker renewal"],
    ];
    const allConnected = async () => {
      const open = await sessions();
      return wanted.every((name) => open.has(name));
    };
    await waitFor(allConnected, { what: "all connections", timeoutMs: 60_000 });
    const before = asked.length;
    await rotate();
    await waitFor(allConnected, { what: "all connections with new tokens", timeoutMs: 60_000 });
    expect(new Set(asked.slice(before))).toEqual(new Set(programs.map((role) => `${role}_login`)));
    const ended = await finished(orchestrator, job, 120_000);
    expect(ended.status).toBe("completed");
  }, 240_000);
});
