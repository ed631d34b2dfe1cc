import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { createPostgresBroker } from "../../adapters/broker/postgres-broker/create-postgres-broker.ts";
import { openDatabase } from "../../adapters/postgres/database.ts";
import { readMigrations } from "../../adapters/postgres/migration-files.ts";
import { createLogger } from "../../adapters/runtime/logger.ts";
import { createLocalStorage } from "../../adapters/storage/local-storage.ts";
import type { ReadinessDeps } from "./check-readiness.ts";
import { createHealth } from "./check-health.ts";
import { checkReadiness, createReadinessChecks } from "./check-readiness.ts";

const folders = temporaryFolders();
const log = createLogger({ name: "test", level: "silent", format: "json" });
let database: TestDatabase;
let deps: ReadinessDeps;
let folder: string;

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const engine = (started: string, ticked: string | null) => () => ({
  owner_id: "orch-1",
  started_at: started,
  ticks: 1,
  last_tick_at: ticked,
  last_error: null,
  quarantined_jobs: 0,
});

const ready = (given: ReadinessDeps) => checkReadiness(createReadinessChecks(given));

/** What `/health` says of a part. */
async function healthOf(part: string, given: ReadinessDeps): Promise<unknown> {
  const readiness = createReadinessChecks(given);
  const broker = createPostgresBroker({ ...database, holder: "test", log });
  try {
    const health = await createHealth({
      ...given,
      ...database,
      broker,
      readiness,
      queues: () => [],
    })();
    return { status: health.status, part: health.parts[part] };
  } finally {
    await broker.close();
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await folders.make();
  await database.db.query(
    "INSERT INTO dagapp.dag_orchestrators (owner_id, host, pid, version) VALUES ('orch-1', 'h', 1, '1')",
  );
  deps = {
    db: database.db,
    storage: createLocalStorage(path.join(folder, "storage")),
    status: engine(ago(100), ago(1)),
  };
});
afterAll(async () => {
  await database.drop();
  await folders.remove();
});

describe("an orchestrator", () => {
  it("is ready when everything works, and says what was checked", async () => {
    expect(await healthOf("storage", deps)).toMatchObject({
      part: { status: "ok", detail: "takes objects" },
    });
    expect(await ready(deps)).toMatchObject({
      database: "ok",
      writing: "ok",
      engine: "ok",
      storage: "ok",
    });
  });

  it("is not ready on a database that is read-only", async () => {
    const url = new URL(database.url);
    url.searchParams.set("options", "-c default_transaction_read_only=on");
    const db = openDatabase({ url: url.href, applicationName: "rmhdag test" });
    try {
      await expect(ready({ ...deps, db })).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: "The check `writing` failed: The database is read-only.",
      });
      expect(await healthOf("database", { ...deps, db })).toMatchObject({
        status: "down",
        part: { status: "down", detail: "The database is read-only." },
      });
    } finally {
      await db.close();
    }
  });

  it.each([
    ["whose last tick was long ago", engine(ago(1000), ago(90)), /`engine` failed: its last tick/],
    ["that has never ticked", engine(ago(90), null), /`engine` failed/],
  ])("%s is not ready", async (_what, status, message) => {
    await expect(ready({ ...deps, status })).rejects.toThrow(message);
  });

  it("that has just started is ready before its first tick", async () => {
    const status = engine(ago(1), null);
    expect(await ready({ ...deps, status })).toMatchObject({ engine: "ok" });
  });

  it("says in time that a part does not answer, and asks it once meanwhile", async () => {
    const broker = createPostgresBroker({ ...database, holder: "test", log });
    const readiness = createReadinessChecks(deps);
    const health = createHealth({ ...deps, ...database, broker, readiness, queues: () => [] });
    const waiting = async () => {
      const { rows } = await database.db.query<{ count: number }>(
        "SELECT count(*)::int FROM pg_locks WHERE NOT granted AND relation = 'dagapp.dag_jobs'::regclass",
      );
      return rows[0]!.count;
    };
    await database.db.transaction(async (session) => {
      await session.query("LOCK TABLE dagapp.dag_jobs IN ACCESS EXCLUSIVE MODE");
      const first = await health();
      expect(first).toMatchObject({
        status: "down",
        parts: { engine: { detail: "does not answer" }, database: { status: "ok" } },
      });
      const before = await waiting();
      expect(before).toBeGreaterThan(0);
      await health();
      expect(await waiting()).toBe(before);
    });
    await waitFor(async () => (await health()).parts["engine"]?.status === "ok", {
      what: "the engine's answer",
    });
    await broker.close();
  });

  it("stays ready after a migration that it can live with, and not after another", async () => {
    const { length: known } = await readMigrations();
    const add = (version: number, oldest: number) =>
      database.db.query(
        `INSERT INTO dagapp.schema_migrations (version, name, checksum, oldest_program)
         VALUES ($1, 'newer', 'x', $2)`,
        [version, oldest],
      );
    await add(known + 1, known);
    expect(await ready(deps)).toMatchObject({ schema: `version ${known + 1}` });
    await add(known + 2, known + 1);
    await expect(ready(deps)).rejects.toThrow(/`schema` failed/);
    await database.db.query(`DELETE FROM dagapp.schema_migrations WHERE name = 'newer'`);
  });

  it("is not ready when its storage takes nothing", async () => {
    const place = path.join(folder, "taken");
    await writeFile(place, "a file where the folder should be");
    const storage = createLocalStorage(place);
    await expect(ready({ ...deps, storage })).rejects.toThrow(/`storage` failed/);
    expect(await healthOf("storage", { ...deps, storage })).toMatchObject({
      status: "down",
      part: { status: "down" },
    });
    await rm(place);
  });
});
