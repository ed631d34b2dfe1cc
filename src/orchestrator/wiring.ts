import { randomBytes } from "node:crypto";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import { openTransport } from "../adapters/broker/outside-broker/open-transport.ts";
import { startPushServer } from "../adapters/broker/postgres-broker/push/server.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import { createMetrics } from "../adapters/http/metrics.ts";
import { createAccessPolicy } from "../adapters/http/tokens.ts";
import { openDatabase } from "../adapters/postgres/database.ts";
import { openHotDatabase, openTileDatabase } from "../adapters/postgres/hot-database.ts";
import { createGraphCache } from "../adapters/postgres/queries/graph-cache.ts";
import { shareListener } from "../adapters/postgres/share-listener.ts";
import { checkSchema } from "../adapters/postgres/schema-version.ts";
import { systemClock } from "../adapters/runtime/clock.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { openTracer } from "../adapters/tracing/open-tracer.ts";
import type { HttpsRules } from "../adapters/storage/https-source.ts";
import { createSourceResolver } from "../adapters/storage/resolve-source.ts";
import { openStorageWithStaging } from "../adapters/storage/open-storage.ts";
import { handlerCatalogue } from "../core/handlers/index.ts";
import type { OrchestratorConfig } from "./config.ts";
import type { AssetDeps } from "./assets/deps.ts";
import { createAssetMutex } from "./assets/deps.ts";
import { recordEnds, recordStarts } from "./assets/record-ends.ts";
import { startServices } from "./start-services.ts";
import { DatabaseClock } from "./engine/database-clock.ts";
import { createEndWaiters } from "./engine/end-waiters.ts";
import { createEngineDurations } from "./engine/engine-metrics.ts";
import { StateCache } from "./engine/job-state.ts";
import { createOutputStore } from "./engine/output-store.ts";
import { createQuarantine } from "./engine/quarantine.ts";
import { startEngine } from "./engine/start-engine.ts";
import { createJobTraces } from "./engine/trace-jobs.ts";
import { ConfigError } from "../adapters/runtime/environment.ts";
import { siteDefaultProblems, withSiteDefaults } from "../core/handlers/site-defaults.ts";
import { createHandlerCatalogue } from "./handlers/catalogue.ts";
import { consumeJobs } from "./jobs/consume-jobs.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { createJobStreams } from "./jobs/job-streams.ts";
import type { SignInDeps } from "./sign-in/deps.ts";
import { findSessionCaller } from "./sign-in/sessions.ts";
import { findTokenCaller } from "./sign-in/tokens.ts";
import { createEventWatch } from "./jobs/watch-events.ts";
import { createWorkflowRegistry } from "./workflows/registry.ts";
import { serve } from "./serve.ts";

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
  const transport = await openTransport(config.broker, ownerId, log.child({ part: "broker" }));
  const broker = createPostgresBroker({
    db,
    url,
    holder: ownerId,
    log,
    listen,
    pushConnections,
    transport,
    relays: transport !== undefined,
  });
  const queueSpec = { leaseMs: config.leaseMs, maxDeliveries: config.maxDeliveries };
  for (const queue of [...config.taskQueues, config.jobQueue]) {
    await broker.ensureQueue(queue, queueSpec);
  }
  const wrong = siteDefaultProblems(
    handlerCatalogue,
    new Set(config.taskQueues),
    config.siteDefaults,
  );
  if (wrong.length > 0) throw new ConfigError(wrong.join("\n"));
  const catalogue = createHandlerCatalogue({
    db,
    broker,
    log,
    shipped: withSiteDefaults(handlerCatalogue, config.siteDefaults),
    declaredQueues: config.taskQueues,
    jobQueue: config.jobQueue,
    queueSpec,
  });
  await catalogue.refresh();

  const compile = {
    handlers: catalogue.handlers,
    queues: catalogue.queues,
    env: new Set(Object.keys(config.templateEnv)),
  };
  const workflows = createWorkflowRegistry({
    db,
    paths: config.workflowPaths,
    options: compile,
    readHandlers: () => catalogue.refresh(),
    hasWorkers: () => catalogue.hasWorkers(),
    log: log.child({ part: "workflows" }),
  });
  await workflows.refresh();
  const graphs = createGraphCache(db);
  const { storage, staging } = await openStorageWithStaging(config.storage);
  const uploads = { staging, maxBytes: config.uploadMaxBytes };
  const tracer = await openTracer(config.tracing, log);
  const traces = tracer && createJobTraces(tracer, db, log);
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
    maxFanOut: config.maxFanOut,
    jobHooks: { onJobsStarted: recordStarts, onJobsEnded: recordEnds },
    traces,
  };
  const metrics = createMetrics();
  const durations = createEngineDurations(metrics);
  const engineLog = log.child({ part: "engine" });
  const engine = await startEngine(deps, config, listen, engineLog, durations);
  const jobQueue = await consumeJobs(deps, config.jobQueue);

  const watch = createEventWatch(db, ownerId, listen, log);
  const streams = createJobStreams({
    db,
    graphs,
    traceUrlTemplate: config.traceUrlTemplate,
    listen: (wake) => watch.listen(wake),
    onError: (err) => {
      log.warn({ err }, "a live stream could not be served");
    },
  });
  const signIn: SignInDeps = {
    db,
    clock: systemClock,
    tokens: config.serviceTokens,
    limits: config.signIn,
  };
  const access = createAccessPolicy(config.serviceTokens, {
    openOnLoopback: config.openOnLoopback,
    signingKey: config.callbackSigningKey,
    findToken: (token) => findTokenCaller(signIn, token),
    findSession: (secret) => findSessionCaller(signIn, secret),
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
  const sourceRules: HttpsRules = {
    allowedHosts: config.sources.hosts,
    privateNetworks: parseNetworks(config.sources.privateNetworks),
    maxBytes: config.sources.maxBytes,
  };
  const domain: AssetDeps = {
    db: domainDb,
    engine: deps,
    sources: createSourceResolver({
      storage,
      https: sourceRules,
      mounts: config.sources.mounts,
      containers: config.storage.zonesByContainer,
    }),
    callbacks: { signingKey: config.callbackSigningKey, jobHosts: config.callbackHosts },
    mutex: createAssetMutex(),
    external:
      config.externalDatabaseUrl === undefined
        ? undefined
        : {
            db: openDatabase({
              url: config.externalDatabaseUrl,
              applicationName: `${ownerId} external`,
              max: 2,
              onConnectionLost,
            }),
            publicUrl: config.storage.publicUrl?.replace(/\/+$/, "") ?? "",
          },
    onChanged: () => {
      services.wake();
    },
  };
  const serviceChecks = {
    db: domainDb,
    clock: systemClock,
    privateNetworks: parseNetworks(config.callbackPrivateNetworks),
  };
  const retention = { db: domainDb, storage, clock: systemClock, settings: config.retention };
  const services = startServices(
    {
      assets: domain,
      serviceChecks,
      files: { db, storage, uploads },
      retention,
      catalogue,
      workflowPaths: config.workflowPaths,
      delivery: {
        db: domainDb,
        clock: systemClock,
        signingKey: config.callbackSigningKey,
        jobHosts: config.callbackHosts,
        privateNetworks: parseNetworks(config.callbackPrivateNetworks),
        tracer,
        durations,
      },
    },
    listen,
    log.child({ part: "domain" }),
  );
  const tileDb = openTileDatabase({ url, applicationName: `${ownerId} tiles`, onConnectionLost });
  const server = await serve(deps, config, engine, {
    db,
    tileDb,
    domain,
    serviceChecks,
    retention,
    storage,
    sourceRules,
    uploads,
    access,
    signIn,
    compile,
    queues: () => [...catalogue.queues, config.jobQueue],
    streams,
    tracer,
    metrics,
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
      {
        name: "traces",
        stop: async () => {
          await traces?.idle();
          await tracer?.close();
        },
      },
      {
        name: "database",
        stop: () => Promise.all([db, hot, domainDb, tileDb].map((each) => each.close())),
      },
      { name: "external database", stop: async () => domain.external?.db.close() },
    ],
  };
}
