import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import type { PushCounters } from "../adapters/broker/postgres-broker/push/connections.ts";
import { startPushServer } from "../adapters/broker/postgres-broker/push/server.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import type { AccessPolicy } from "../adapters/http/access.ts";
import { createMetrics } from "../adapters/http/metrics.ts";
import type { HttpServer } from "../adapters/http/server.ts";
import { buildServer } from "../adapters/http/server.ts";
import { openStaticFiles } from "../adapters/http/static-files.ts";
import { createAccessPolicy } from "../adapters/http/tokens.ts";
import { openDatabase } from "../adapters/postgres/database.ts";
import type { Database } from "../adapters/postgres/database.ts";
import { openHotDatabase } from "../adapters/postgres/hot-database.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { createGraphCache } from "../adapters/postgres/queries/graph-cache.ts";
import { rebuildSchema } from "../adapters/postgres/rebuild.ts";
import { shareListener } from "../adapters/postgres/share-listener.ts";
import { checkSchema } from "../adapters/postgres/schema-version.ts";
import { systemClock } from "../adapters/runtime/clock.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { version } from "../adapters/runtime/version.ts";
import { createSourceResolver } from "../adapters/storage/resolve-source.ts";
import { zonesByContainer } from "../adapters/storage/settings.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { openStorage } from "../adapters/storage/open-storage.ts";
import { createDiskCache } from "../adapters/tiles/disk-cache.ts";
import { createLazyRasterServer } from "../adapters/tiles/raster-server.ts";
import { contracts } from "../core/api/index.ts";
import { handlerCatalogue } from "../core/handlers/index.ts";
import type { OrchestratorConfig } from "./config.ts";
import type { AssetDeps } from "./assets/deps.ts";
import { createAssetMutex } from "./assets/deps.ts";
import { recordEnds, recordStarts } from "./assets/record-ends.ts";
import { startServices } from "./start-services.ts";
import { registerEngineMetrics } from "./engine/engine-metrics.ts";
import { DatabaseClock } from "./engine/database-clock.ts";
import { createEndWaiters } from "./engine/end-waiters.ts";
import { StateCache } from "./engine/job-state.ts";
import { createOutputStore } from "./engine/output-store.ts";
import { createQuarantine } from "./engine/quarantine.ts";
import type { Engine } from "./engine/start-engine.ts";
import { startEngine } from "./engine/start-engine.ts";
import { consumeJobs } from "./jobs/consume-jobs.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { makeVerbs } from "./jobs/make-verbs.ts";
import { createFeatureAnswers } from "./layers/feature-answers.ts";
import { createLayerAnswers } from "./layers/layer-answers.ts";
import { createJobStreams } from "./jobs/job-streams.ts";
import { makeRoutes } from "./routes.ts";
import { createEventWatch } from "./jobs/watch-events.ts";
import { createWorkflowRegistry } from "./workflows/registry.ts";

/** Beside src/ as beside dist/. */
const uiFolder = fileURLToPath(new URL("../../ui/dist", import.meta.url));

export interface RunningOrchestrator {
  readonly url: string;
  readonly ownerId: string;
  /** In the order in which it stops: no new requests, no new decisions, then what they used. */
  readonly stopSteps: readonly { readonly name: string; readonly stop: () => Promise<unknown> }[];
}

export async function startOrchestrator(
  config: OrchestratorConfig,
  log: Logger,
): Promise<RunningOrchestrator> {
  const ownerId = config.ownerId ?? `orch-${randomBytes(4).toString("hex")}`;
  const { databaseUrl: url } = config;
  const onConnectionLost = (err: Error) => {
    log.warn({ err }, "a connection to the database was lost");
  };
  const db = openDatabase({ url, applicationName: ownerId, max: 10, onConnectionLost });
  await checkSchema(db);
  const listener = shareListener(url, {
    applicationName: `${ownerId} listen`,
    onError: (err) => {
      log.warn({ err }, "the listening connection was lost");
    },
  });
  const { listen } = listener;
  const pushServer = await startPushServer({
    db,
    holder: ownerId,
    ...config.push,
    log: log.child({ part: "push" }),
  });
  const pushConnections = pushServer.connections;
  const broker = createPostgresBroker({ db, url, holder: ownerId, log, listen, pushConnections });
  const queues = [...config.taskQueues, config.jobQueue];
  for (const queue of queues) {
    await broker.ensureQueue(queue, {
      leaseMs: config.leaseMs,
      maxDeliveries: config.maxDeliveries,
    });
  }

  const compile = {
    handlers: handlerCatalogue,
    queues: new Set(config.taskQueues),
    env: new Set(Object.keys(config.templateEnv)),
  };
  const workflows = createWorkflowRegistry({ db, paths: config.workflowPaths, options: compile });
  for (const { file, line, column, code, message } of await workflows.reload()) {
    log.warn({ code }, `${file}:${line}:${column} ${message}`);
  }
  const graphs = createGraphCache(db);
  const storage = await openStorage(config.storage);
  const hot = openHotDatabase({ url, applicationName: `${ownerId} engine`, onConnectionLost });
  const deps: JobDeps = {
    db: hot,
    broker,
    clock: systemClock,
    databaseClock: new DatabaseClock(),
    ownerId,
    workflows,
    graphs,
    cache: new StateCache(),
    outputs: createOutputStore(storage),
    quarantine: createQuarantine(log),
    endWaiters: createEndWaiters(db),
    env: config.templateEnv,
    jobHooks: { onJobsStarted: recordStarts, onJobsEnded: recordEnds },
  };
  const engine = await startEngine(deps, config, listen, log.child({ part: "engine" }));
  const jobQueue = await consumeJobs(deps, config.jobQueue);

  const watch = createEventWatch(db, ownerId, listen, log);
  const streams = createJobStreams({
    db,
    graphs,
    listen: (wake) => watch.listen(wake),
    onError: (err) => {
      log.warn({ err }, "a live stream could not be served");
    },
  });
  const access = createAccessPolicy(config.serviceTokens, {
    openOnLoopback: config.openOnLoopback,
    proxy: config.trustedProxy && {
      ...config.trustedProxy,
      networks: parseNetworks(config.trustedProxy.networks),
    },
  });
  // A pool of its own: a change that waits for an asset's lock keeps no reader and no tick waiting.
  const domainDb = openDatabase({
    url,
    applicationName: `${ownerId} domain`,
    max: 6,
    onConnectionLost,
  });
  const domain: AssetDeps = {
    db: domainDb,
    engine: deps,
    sources: createSourceResolver({
      storage,
      https: {
        allowedHosts: config.sources.hosts,
        privateNetworks: parseNetworks(config.sources.privateNetworks),
      },
      mounts: config.sources.mounts,
      containers: zonesByContainer(config.storage),
    }),
    callbacks: { signingKey: config.callbackSigningKey, jobHosts: config.callbackHosts },
    mutex: createAssetMutex(),
  };
  const services = startServices(
    {
      assets: domain,
      delivery: {
        db: domainDb,
        clock: systemClock,
        signingKey: config.callbackSigningKey,
        jobHosts: config.callbackHosts,
        privateNetworks: parseNetworks(config.callbackPrivateNetworks),
      },
    },
    listen,
    log.child({ part: "domain" }),
  );
  const server = await serve(deps, config, engine, {
    db,
    domain,
    storage,
    access,
    compile,
    queues,
    streams,
    pushCounters: pushConnections.counters,
    log,
  });
  const { url: address } = await server.listen({ host: config.host, port: config.port });

  return {
    url: address,
    ownerId,
    stopSteps: [
      {
        name: "live streams",
        stop: async () => {
          streams.close();
          await watch.stop();
        },
      },
      { name: "server", stop: () => server.close() },
      { name: "domain", stop: () => services.stop() },
      { name: "job queue", stop: () => jobQueue.close({ graceMs: 5000 }) },
      { name: "push server", stop: () => pushServer.close() },
      { name: "engine", stop: () => engine.stop() },
      { name: "broker", stop: () => broker.close() },
      { name: "listener", stop: () => listener.close() },
      { name: "database", stop: () => Promise.all([db.close(), hot.close(), domainDb.close()]) },
    ],
  };
}

async function serve(
  deps: JobDeps,
  config: OrchestratorConfig,
  engine: Engine,
  parts: {
    /** For reading: its planner is free to choose. */
    readonly db: Database;
    readonly domain: AssetDeps;
    readonly storage: Storage;
    readonly access: AccessPolicy;
    readonly compile: Parameters<typeof makeRoutes>[0]["compile"];
    readonly queues: readonly string[];
    readonly streams: Parameters<typeof makeRoutes>[0]["streams"];
    readonly pushCounters: PushCounters;
    readonly log: Logger;
  },
): Promise<HttpServer> {
  const { broker, graphs, ownerId, clock } = deps;
  const { db } = parts;
  const { databaseUrl: url } = config;
  const startedAt = clock.now().toISOString();
  const metrics = createMetrics();
  registerEngineMetrics(metrics, () => ({ ...engine.counters, ...parts.pushCounters }));
  const verbs = makeVerbs(deps, () => {
    engine.wake();
  });
  const features = createFeatureAnswers(db);
  const handlers = makeRoutes({
    db,
    assets: parts.domain,
    storage: parts.storage,
    layers: createLayerAnswers(
      createLazyRasterServer({
        storage: parts.storage,
        disk: createDiskCache(config.tileCache.folder, config.tileCache.mostBytes),
      }),
      features,
    ),
    features,
    verbs,
    broker,
    queues: parts.queues,
    graphs,
    streams: parts.streams,
    compile: parts.compile,
    callbacks: parts.domain.callbacks,
    schema: {
      migrate: () => migrate(url),
      rebuild: config.allowRebuild ? () => rebuildSchema(url) : undefined,
    },
    access: parts.access,
    version,
    uiFiles: await openStaticFiles(uiFolder),
    status: () => ({ owner_id: ownerId, started_at: startedAt, ...engine.status() }),
    metrics,
  });
  return buildServer({
    contracts,
    handlers,
    access: parts.access,
    log: parts.log,
    onAnswered: (timing) => {
      metrics.observe(timing);
    },
  });
}
