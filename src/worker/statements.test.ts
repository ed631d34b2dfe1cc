import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../test/support/database.ts";
import type { TestDatabase } from "../../test/support/database.ts";
import { waitFor } from "../../test/support/wait.ts";
import { taskOut } from "../../test/support/worker.ts";
import type { Broker } from "../adapters/broker/broker.ts";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import { openLeaseDatabase } from "../adapters/postgres/hot-database.ts";
import type { Database } from "../adapters/postgres/database.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { createLocalStorage } from "../adapters/storage/local-storage.ts";
import { createSourceResolver } from "../adapters/storage/resolve-source.ts";
import { noGdal } from "../../test/support/handler-context.ts";
import { consume } from "./consume.ts";
import { executeTask } from "./execute-task.ts";
import { createPostgresReporter } from "./postgres-reporter.ts";
import { handlers } from "./registry.ts";

const log = createLogger({ name: "test", level: "error", format: "json" });
const queue = "counted";
let database: TestDatabase;
let folder: string;
let leaseDb: Database;
let broker: Broker;
const statements: string[] = [];

/** The real database, which counts its statements. */
function counting(db: Database): Database {
  return {
    ...db,
    query: (text, values, name) => {
      statements.push(name ?? text);
      return db.query(text, values, name);
    },
  };
}

beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-statements-"));
  leaseDb = counting(
    openLeaseDatabase({
      url: database.url,
      applicationName: "test leases",
      isDurable: false,
    }),
  );
  broker = createPostgresBroker({
    db: counting(database.db),
    leaseDb,
    url: database.url,
    holder: "test",
    log,
    pollMs: 1000,
  });
  await broker.ensureQueue(queue, { leaseMs: 30_000, maxDeliveries: 5 });
});
afterEach(async () => {
  await broker.close();
  await leaseDb.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

function start() {
  const reporter = createPostgresReporter({ db: database.db, leaseDb, workerId: "test", log });
  const storage = createLocalStorage(folder);
  const parts = {
    handlers,
    reporter,
    storage,
    log,
    sources: createSourceResolver({ storage, https: { allowedHosts: [] }, mounts: [] }),
    gdal: noGdal,
    database: undefined,
    environment: {},
    workFolder: folder,
    mountFolder: folder,
  };
  return consume({
    broker,
    queues: [queue],
    concurrency: 20,
    accepts: () => [...handlers.keys()],
    execute: (delivery) => executeTask(parts, delivery),
    log,
  });
}

const finished = (count: number) =>
  waitFor(
    async () => {
      const { rowCount } = await database.db.query("SELECT FROM dagapp.dag_task_results");
      return rowCount === count;
    },
    { what: `${count} results` },
  );

it("fetches and reports 1,000 tasks with an eighth of a statement for each", async () => {
  const tasks = Array.from({ length: 1000 }, (_, index) =>
    taskOut({ task_id: `t${index}`, handler: "echo", params: { index } }),
  );
  await broker.publish(queue, tasks);
  statements.length = 0;
  const consumption = start();
  await finished(1000);
  const count = (name: string) => statements.filter((one) => one === name).length;
  // Twenty slots: fifty full rounds of one fetch and one report, and a few that were not full.
  expect(count("dag_queue_fetch")).toBeLessThan(70);
  expect(count("dag_record_reports")).toBeLessThan(70);
  expect(statements.length).toBeLessThan(125);
  await consumption.close({ graceMs: 1000 });
});

it("runs no statement while it is idle, other than its slow poll", async () => {
  const consumption = start();
  await broker.publish(queue, [taskOut({ task_id: "only", handler: "echo" })]);
  await finished(1);
  const polled = async () => {
    statements.length = 0;
    await waitFor(() => statements.includes("dag_queue_return_expired"), { what: "the slow poll" });
    await waitFor(() => statements.at(-1) === "dag_queue_fetch", { what: "the look after it" });
  };
  // The listener looks once more when it is connected, which may be after the task.
  await polled();
  // From one poll to the next, a second later, there must be nothing.
  await polled();
  expect(statements).toEqual(["dag_queue_return_expired", "dag_queue_fetch"]);
  await consumption.close({ graceMs: 1000 });
});
