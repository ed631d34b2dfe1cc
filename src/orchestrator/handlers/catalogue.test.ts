import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { makeFactory } from "../../../test/support/factories.ts";
import { createPostgresBroker } from "../../adapters/broker/postgres-broker/create-postgres-broker.ts";
import type { Broker } from "../../adapters/broker/broker.ts";
import { listContracts, readOffers } from "../../adapters/postgres/queries/handlers.ts";
import { writeOffers } from "../../adapters/postgres/repositories/handlers.ts";
import { removeWorker } from "../../adapters/postgres/repositories/workers.ts";
import { createLogger } from "../../adapters/runtime/logger.ts";
import { contractData } from "../../core/handlers/contract-data.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { jobQueue, taskQueues } from "../../core/queues.ts";
import { createHealth } from "../fleet/check-health.ts";
import { createWorkflowRegistry } from "../workflows/registry.ts";
import { createHandlerCatalogue } from "./catalogue.ts";
import { describeHandlers } from "./describe-handlers.ts";

const log = createLogger({ name: "test", level: "silent", format: "json" });
const ok = () => Promise.resolve("ok");
const readiness = { writing: ok, storage: ok };
const status = () => ({
  owner_id: "test",
  started_at: new Date().toISOString(),
  ticks: 0,
  last_tick_at: null,
  last_error: null,
  quarantined_jobs: 0,
});
const queueSpec = { leaseMs: 30_000, maxDeliveries: 5 };

const ndvi = (more: object = {}) =>
  contractData.parse({
    name: "acme.ndvi",
    queue: "gpu",
    params: {
      type: "object",
      properties: { red: { type: "string" } },
      required: ["red"],
    },
    ...more,
  });

describe("handlers that workers register", () => {
  let database: TestDatabase;
  let broker: Broker;
  let folder: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    broker = createPostgresBroker({ ...database, holder: "test", log });
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-catalogue-"));
  });
  afterAll(async () => {
    await broker.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  function open() {
    return createHandlerCatalogue({
      db: database.db,
      broker,
      log,
      shipped: handlerCatalogue,
      declaredQueues: taskQueues,
      jobQueue,
      queueSpec,
    });
  }

  it("makes a workflow valid that names one, with its queue, and keeps it so without workers", async () => {
    const { db } = database;
    const catalogue = open();
    await writeFile(
      path.join(folder, "mine.yaml"),
      "nodes: { a: { handler: acme.ndvi, params: { red: r.tif } } }",
    );
    await writeFile(path.join(folder, "typo.yaml"), "nodes: { a: { handler: acme.nvdi } }");
    const lines: string[] = [];
    const destination = {
      write: (line: string) => lines.push((JSON.parse(line) as { msg: string }).msg),
    };
    const workflows = createWorkflowRegistry({
      db,
      paths: [folder],
      options: { handlers: catalogue.handlers, queues: catalogue.queues, env: new Set() },
      readHandlers: () => catalogue.refresh(),
      hasWorkers: () => catalogue.hasWorkers(),
      log: createLogger({ name: "test", level: "info", format: "json", destination }),
    });
    await workflows.refresh();
    // The worker that offers it may start a moment later: nothing is wrong yet.
    expect(lines).toEqual([]);
    await expect(workflows.newest("mine")).rejects.toMatchObject({ code: "INVALID_WORKFLOW" });

    await makeFactory(db).worker("gpu-1", { queues: ["gpu"] });
    await writeOffers(db, "gpu-1", [ndvi()]);
    // At the next submission, whether or not the notification has arrived.
    const { definition } = await workflows.newest("mine");
    expect(await catalogue.refresh()).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^workflow typo was refused: .*acme\.nvdi/)]);
    expect(definition.nodes["a"]).toMatchObject({ queue: "gpu", timeout_seconds: 300 });
    expect(await broker.depth("gpu")).toMatchObject({ ready: 0 });
    const offers = await readOffers(db);
    expect([offers("gpu", "acme.ndvi"), offers("gpu", "echo"), offers("cpu", "echo")]).toEqual([
      true,
      false,
      false,
    ]);

    await removeWorker(db, "gpu-1");
    const again = open();
    await again.refresh();
    expect(again.handlers.get("acme.ndvi")?.queue).toBe("gpu");
    expect((await readOffers(db))("gpu", "acme.ndvi")).toBe(false);
  });

  it("shows both contracts of one name, says so in /health, and checks against the newest", async () => {
    const { db } = database;
    const factory = makeFactory(db);
    await factory.worker("old", { queues: ["gpu"] });
    await factory.worker("new", { queues: ["gpu"] });
    await writeOffers(db, "old", [ndvi()]);
    await writeOffers(db, "new", [ndvi({ timeout_seconds: 77 })]);
    const [handler] = describeHandlers(new Map(), await listContracts(db));
    expect(handler).toMatchObject({ name: "acme.ndvi", conflict: true, alive: true });
    expect(handler?.contracts.map(({ offered_by }) => offered_by[0]?.worker_id)).toEqual([
      "new",
      "old",
    ]);
    const catalogue = open();
    await catalogue.refresh();
    expect(catalogue.handlers.get("acme.ndvi")?.timeout_seconds).toBe(77);
    const { parts } = await createHealth({
      db,
      broker,
      status,
      readiness,
      queues: () => [...catalogue.queues],
    })();
    expect(parts["handlers"]).toMatchObject({
      status: "degraded",
      facts: { conflicts: ["acme.ndvi"] },
    });
    await writeOffers(db, "old", [ndvi({ timeout_seconds: 77 })]);
    const after = await createHealth({ db, broker, status, readiness, queues: () => [] })();
    expect(after.parts["handlers"]?.status).toBe("ok");
  });

  it("never lets a worker change a shipped contract or make the job queue one of tasks", async () => {
    const { db } = database;
    await makeFactory(db).worker("odd", { queues: [jobQueue] });
    await writeOffers(db, "odd", [contractData.parse({ name: "echo", queue: jobQueue })]);
    const catalogue = open();
    await catalogue.refresh();
    expect(catalogue.handlers.get("echo")).toBe(handlerCatalogue.get("echo"));
    expect(catalogue.queues.has(jobQueue)).toBe(false);
  });
});
