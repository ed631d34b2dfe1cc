/**
 * Once for a whole run: builds dist if it is stale, because tests start the real programs; finds or
 * starts a PostgreSQL; and migrates the template that every test file clones.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A server on which tests may create databases. */
    serverUrl: string;
    /** The migrated database that test databases are cloned from. */
    templateDatabase: string;
  }
}

const root = path.resolve(import.meta.dirname, "../..");

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPrograms();
  const server = await findServer();
  // Runs that share a server must not drop each other's template.
  const templateDatabase = `rmhdag_template_${process.pid}`;
  await onServer(server.url, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${templateDatabase}`);
  });
  const url = new URL(server.url);
  url.pathname = templateDatabase;
  await migrate(url.href);

  project.provide("serverUrl", server.url);
  project.provide("templateDatabase", templateDatabase);
  return async () => {
    await onServer(server.url, (client) =>
      client.query(`DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`),
    );
    await server.stop();
  };
}

async function buildPrograms(): Promise<void> {
  const script = path.join(root, "scripts/build-stale.js");
  await promisify(execFile)(process.execPath, [script, "server"], { cwd: root });
}

async function findServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined && given !== "") return { url: given, stop: async () => undefined };
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "rmhdag-test-"));
  const server = await startEmbeddedPostgres({ dataDirectory, prefer: "npm", sync: false });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  try {
    await client.connect();
  } catch (cause) {
    const { host } = new URL(url);
    throw new Error(
      `No PostgreSQL answers at ${host}. Start it, or run the tests on one of their own: ` +
        "env -u TEST_DATABASE_URL npm test",
      { cause },
    );
  }
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
