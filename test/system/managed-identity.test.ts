/**
 * Programs that connect to PostgreSQL as managed identities. A token of the stand-in of Azure's token
 * endpoint is the password of its role, and an earlier one opens no connection.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeProgramUser } from "../support/database-user.ts";
import type { DatabaseUser } from "../support/database-user.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { finished, Fleet, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

const workflows = path.resolve(import.meta.dirname, "../../workflows");
const header = randomBytes(8).toString("hex");
let database: TestDatabase;
let fleet: Fleet;
let endpoint: Server;
const users = new Map<string, DatabaseUser>();
const tokens = new Map<string, string>();
const asked: string[] = [];

/** Makes a new token for each role the only one that opens a connection, and ends the open ones. */
async function rotate(): Promise<void> {
  for (const [role, { url }] of users) {
    const { username } = new URL(url);
    const token = randomBytes(24).toString("hex");
    await database.db.query(`ALTER ROLE ${username} PASSWORD '${token}'`);
    tokens.set(role, token);
    await database.db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename = $1`,
      [username],
    );
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
  for (const role of ["rmhdag_orchestrator", "rmhdag_worker"] as const) {
    users.set(role, await makeProgramUser(database.url, role));
  }
  endpoint = createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    const role = query.get("client_id") ?? "";
    const user = new URL(users.get(role)?.url ?? "x:").username;
    if (request.headers["x-identity-header"] !== header || user === "") {
      response.writeHead(400).end("{}");
      return;
    }
    asked.push(role);
    // It ends at once, so that each connection asks again.
    const expires_on = String(Math.floor(Date.now() / 1000) + 1);
    const body = { access_token: tokens.get(role), expires_on, token_type: "Bearer" };
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  await rotate();
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  fleet = new Fleet(database.url, workflows);
});
afterAll(async () => {
  await fleet.stop();
  endpoint.close();
  for (const user of users.values()) await user.remove();
  await database.drop();
});

function identity(role: string): Record<string, string> {
  const url = new URL(users.get(role)?.url ?? "");
  const { port } = endpoint.address() as AddressInfo;
  return {
    DATABASE_URL: "",
    POSTGRES_HOST: url.hostname,
    POSTGRES_PORT: url.port,
    POSTGRES_DB: url.pathname.slice(1),
    POSTGRES_USER: url.username,
    USE_MANAGED_IDENTITY: "true",
    DB_ADMIN_MANAGED_IDENTITY_CLIENT_ID: role,
    IDENTITY_ENDPOINT: `http://127.0.0.1:${port}/msi/token`,
    IDENTITY_HEADER: header,
  };
}

it("a token that ends is replaced while jobs run, in every connection of every program", async () => {
  const orchestrator = await fleet.orchestrator(identity("rmhdag_orchestrator"));
  await fleet.worker(identity("rmhdag_worker"));
  const first = await submit(orchestrator, "echo_test", { message: "before" });
  expect((await finished(orchestrator, first)).status).toBe("completed");

  const before = asked.length;
  await rotate();
  const second = await submit(orchestrator, "echo_test", { message: "after" }).catch(() =>
    submit(orchestrator, "echo_test", { message: "after" }),
  );
  expect((await finished(orchestrator, second)).status).toBe("completed");
  // A push connection can carry the whole task, so that the worker may need its database only later.
  await waitFor(() => new Set(asked.slice(before)).size === users.size, {
    what: "a new token for every program",
  });
});
