import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { createMetrics } from "../../src/adapters/http/metrics.ts";
import type { HttpServer } from "../../src/adapters/http/server.ts";
import { buildServer } from "../../src/adapters/http/server.ts";
import { openStaticFiles } from "../../src/adapters/http/static-files.ts";
import type { ServiceToken } from "../../src/adapters/http/tokens.ts";
import { createAccessPolicy, hashToken } from "../../src/adapters/http/tokens.ts";
import { systemClock } from "../../src/adapters/runtime/clock.ts";
import type { SignInDeps } from "../../src/orchestrator/sign-in/deps.ts";
import { findSessionCaller } from "../../src/orchestrator/sign-in/sessions.ts";
import { findTokenCaller } from "../../src/orchestrator/sign-in/tokens.ts";
import { shareListener } from "../../src/adapters/postgres/share-listener.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { createGraphCache } from "../../src/adapters/postgres/queries/graph-cache.ts";
import { createLocalStaging } from "../../src/adapters/storage/local-staging.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { createDiskCache } from "../../src/adapters/tiles/disk-cache.ts";
import { createLazyRasterServer } from "../../src/adapters/tiles/raster-server.ts";
import { contracts } from "../../src/core/api/index.ts";
import { handlerCatalogue } from "../../src/core/handlers/index.ts";
import { jobQueue, taskQueues } from "../../src/core/queues.ts";
import { retentionEnvironment, toRetentionSettings } from "../../src/core/retention/classes.ts";
import type { JobStreams } from "../../src/orchestrator/jobs/job-streams.ts";
import { createJobStreams } from "../../src/orchestrator/jobs/job-streams.ts";
import { createFeatureAnswers } from "../../src/orchestrator/layers/feature-answers.ts";
import { createLayerAnswers } from "../../src/orchestrator/layers/layer-answers.ts";
import type { RouteDeps } from "../../src/orchestrator/routes.ts";
import { makeRoutes } from "../../src/orchestrator/routes.ts";
import { createClient } from "../../src/core/api/client.ts";
import type { Client } from "../../src/core/api/client.ts";
import { makeVerbs } from "../../src/orchestrator/jobs/make-verbs.ts";
import type { AssetDeps } from "../../src/orchestrator/assets/deps.ts";
import { makeDomain } from "./domain.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import { createTestDatabase } from "./database.ts";
import type { TestDatabase } from "./database.ts";
import { TestEngine } from "./engine.ts";
import { makeFactory } from "./factories.ts";

export const tokens = {
  reader: "reader-token",
  operator: "operator-token",
  curator: "curator-token",
  worker: "worker-token",
};

export interface TestApi {
  readonly server: HttpServer;
  readonly streams: JobStreams;
  readonly logged: string[];
  close(): Promise<void>;
}

/** The whole API on a test database. What belongs to the engine is given by the test. */
async function startApi(
  { db, url }: TestDatabase,
  given: Pick<RouteDeps, "verbs" | "broker" | "storage" | "uploads" | "assets"> &
    Partial<RouteDeps>,
): Promise<TestApi> {
  const logged: string[] = [];
  const write = (fields: object, message: string) => {
    const text = JSON.stringify({ message, ...fields }, (_key, value: unknown) =>
      value instanceof Error ? value.stack : value,
    );
    logged.push(text);
  };
  const graphs = createGraphCache(db);
  const listener = shareListener(url);
  const streams = createJobStreams({
    db,
    graphs,
    progressEveryMs: 50,
    listen: (wake) => listener.listen(["dag_events"], wake),
  });
  const configured: readonly ServiceToken[] = [
    { name: "reader", sha256: hashToken(tokens.reader), access: ["read"] },
    { name: "operator", sha256: hashToken(tokens.operator), access: ["read", "operate"] },
    { name: "curator", sha256: hashToken(tokens.curator), access: ["read", "curate"] },
    { name: "worker", sha256: hashToken(tokens.worker), access: ["service"] },
  ];
  const signIn: SignInDeps = given.signIn ?? {
    db,
    clock: systemClock,
    tokens: configured,
    limits: { codeSeconds: 600, idleSeconds: 3600, sessionSeconds: 86_400 },
  };
  const access =
    given.access ??
    createAccessPolicy(signIn.tokens, {
      signingKey: given.assets.callbacks.signingKey,
      findToken: (token) => findTokenCaller(signIn, token),
      findSession: (secret) => findSessionCaller(signIn, secret),
    });
  const metrics = createMetrics();
  const server = await buildServer({
    contracts,
    handlers: makeRoutes({
      db,
      queues: () => [...taskQueues, jobQueue],
      // Each request sees the database as it is.
      share: (read) => read,
      remoteWorkers: { mayShadow: false, jobQueue, leaseSeconds: 30 },
      graphs,
      streams,
      // Without a disk cache: a test sees what is made now.
      layers: createLayerAnswers(
        createLazyRasterServer({
          storage: given.storage,
          disk: createDiskCache("", 0),
          log: { error: write },
        }),
        createFeatureAnswers(db),
      ),
      features: createFeatureAnswers(db),
      compile: { handlers: handlerCatalogue, queues: new Set(taskQueues), env: new Set() },
      workflows: given.assets.engine.workflows,
      testEnvironment: undefined,
      callbacks: given.assets.callbacks,
      retention: {
        db,
        storage: given.storage,
        clock: systemClock,
        settings: toRetentionSettings(z.object(retentionEnvironment).parse({})),
      },
      serviceChecks: { db, clock: systemClock, privateNetworks: [] },
      schema: { migrate: () => migrate(url) },
      access,
      signIn,
      doctor: {
        db,
        storage: given.storage,
        signIn,
        version: "1.2.3",
        databaseUrl: url,
        dataFolder: tmpdir(),
        limits: { headersMs: 10_000, requestMs: 30_000, mostConnections: 2000 },
        settings: {
          isOpenOnLoopback: false,
          listensBeyondLoopback: false,
          hasProxy: false,
          hasCallbackKey: true,
          mayRebuild: false,
        },
      },
      version: "1.2.3",
      uiFiles: await openStaticFiles(path.join(import.meta.dirname, "ui-folder")),
      status: () => ({
        owner_id: "orchestrator-1",
        started_at: "2026-01-01T00:00:00.000Z",
        ticks: 7,
        last_tick_at: new Date().toISOString(),
        last_error: null,
        quarantined_jobs: 0,
      }),
      metrics,
      ...given,
    }),
    access,
    log: { debug: write, info: write, warn: write, error: write },
    onAnswered: (timing) => {
      metrics.observe(timing);
    },
    checkAnswers: true,
  });
  return {
    server,
    streams,
    logged,
    close: async () => {
      streams.close();
      await server.close();
      await listener.close();
    },
  };
}

export interface ApiTest {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  readonly make: ReturnType<typeof makeFactory>;
  readonly api: TestApi;
  readonly baseUrl: string;
  readonly operator: Client;
  readonly curator: Client;
  readonly reader: Client;
  readonly storage: Storage;
  readonly domain: AssetDeps;
  /** Another server on the same database and engine. */
  another(given?: Partial<RouteDeps>): Promise<TestApi>;
  close(): Promise<void>;
}

/** A database, an engine without timers, and the API on a real port. */
export async function openApiTest(workflowFolder = "workflows"): Promise<ApiTest> {
  const database = await createTestDatabase();
  const engine = await TestEngine.create(database, workflowFolder);
  const { broker, workflows } = engine.deps;
  await workflows.reload();
  await broker.ensureQueue(jobQueue, { leaseMs: 30_000, maxDeliveries: 5 });
  const verbs = makeVerbs(engine.deps, () => undefined);
  const storage = createLocalStorage(engine.folder);
  const uploads = { staging: createLocalStaging(engine.folder, storage), maxBytes: 1024 ** 3 };
  const domain = makeDomain(database, engine, storage);
  const another = (given: Partial<RouteDeps> = {}) =>
    startApi(database, { verbs, broker, storage, uploads, assets: domain, ...given });
  const api = await another();
  const { url: baseUrl } = await api.server.listen({ host: "127.0.0.1", port: 0 });
  return {
    database,
    engine,
    make: makeFactory(database.db),
    api,
    baseUrl,
    operator: createClient({ baseUrl, token: tokens.operator, fetch }),
    curator: createClient({ baseUrl, token: tokens.curator, fetch }),
    reader: createClient({ baseUrl, token: tokens.reader, fetch }),
    storage,
    domain,
    another,
    close: async () => {
      await api.close();
      await domain.db.close();
      await engine.close();
      await database.drop();
    },
  };
}
