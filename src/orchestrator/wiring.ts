import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import { maintainQueues } from "../adapters/broker/postgres-broker/maintain.ts";
import { release } from "../adapters/broker/postgres-broker/settle.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import type { AccessPolicy } from "../adapters/http/access.ts";
import { createHttpMetrics } from "../adapters/http/http-metrics.ts";
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
import { createLazyRasterServer } from "../adapters/tiles/lazy-raster-server.ts";
import { contracts } from "../core/api/index.ts";
import { handlerCatalogue } from "../core/handlers/index.ts";
import { takeCallbacks } from "./worker-reports/routes.ts";
import type { OrchestratorConfig } from "./config.ts";
import { domainCommands } from "./assets/commands.ts";
import type { DomainDeps } from "./assets/deps.ts";
import { createKeyedLock } from "./assets/keyed-lock.ts";
import { startDomainServices } from "./assets/start-services.ts";
import type { EngineDeps } from "./engine/deps.ts";
import { engineMetrics } from "./engine/engine-metrics.ts";
import { createJobEnds } from "./engine/job-ends.ts";
import { StateCache } from "./engine/job-state.ts";
import { createOutputStore } from "./engine/output-store.ts";
import { createSetAside } from "./engine/set-aside.ts";
import type { Engine } from "./engine/start-engine.ts";
import { startEngine } from "./engine/start-engine.ts";
import { Links } from "./links/links.ts";
import { serveLinks } from "./links/serve-links.ts";
import { makeVerbs } from "./jobs/make-verbs.ts";
import { createCommands } from "./fleet/command-registry.ts";
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
  const ears = shareListener(url, {
    applicationName: `${ownerId} listen`,
    onError: (err) => {
      log.warn({ err }, "the connection that listens was lost");
    },
  });
  const broker = createPostgresBroker({ db, url, holder: ownerId, log, hear: ears.hear });
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
  // A worker may be quicker than our start; its results wait for the first tick.
  const started: { engine?: Engine } = {};
  const links = new Links({
    onTold: () => {
      started.engine?.hearTold();
    },
    giveBack: (leases) => {
      release(db, leases).catch((err: unknown) => {
        log.warn({ err, messages: leases.length }, "not given back: their leases will run out");
      });
    },
  });
  const door = await serveLinks(config.link, links, log.child({ part: "links" }));
  const deps: EngineDeps = {
    db: hot,
    broker,
    clock: systemClock,
    ownerId,
    workflows,
    graphs,
    cache: new StateCache(),
    outputs: createOutputStore(storage),
    setAside: createSetAside(log),
    ends: createJobEnds(db),
    links,
    env: config.templateEnv,
  };
  const engine = await startEngine(
    deps,
    {
      ...config,
      link: { address: door.address, key: door.key },
      maintain: () => maintainQueues(db),
    },
    ears.hear,
    log.child({ part: "engine" }),
  );
  started.engine = engine;

  const watch = createEventWatch(db, ownerId, ears.hear, log);
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
  // Of its own: whoever waits for an asset's lock keeps no reader and no tick waiting.
  const domainDb = openDatabase({
    ...{ url, applicationName: `${ownerId} domain`, max: 6, onConnectionLost },
  });
  const domain: DomainDeps = {
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
    turns: createKeyedLock(),
    wake: () => {
      engine.wake();
    },
  };
  const services = startDomainServices(
    {
      domain,
      delivery: {
        db: domainDb,
        clock: systemClock,
        signingKey: config.callbackSigningKey,
        jobHosts: config.callbackHosts,
        privateNetworks: parseNetworks(config.callbackPrivateNetworks),
      },
    },
    ears.hear,
    log.child({ part: "domain" }),
  );
  const server = await serve(deps, config, engine, {
    ...{ db, domain, storage, access, compile, queues, streams, log },
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
      { name: "links", stop: () => door.close() },
      { name: "engine", stop: () => engine.stop() },
      { name: "broker", stop: () => broker.close() },
      { name: "listener", stop: () => ears.close() },
      { name: "database", stop: () => Promise.all([db.close(), hot.close(), domainDb.close()]) },
    ],
  };
}

async function serve(
  deps: EngineDeps,
  config: OrchestratorConfig,
  engine: Engine,
  parts: {
    /** For reading: its planner is free to choose. */
    readonly db: Database;
    readonly domain: DomainDeps;
    readonly storage: Storage;
    readonly access: AccessPolicy;
    readonly compile: Parameters<typeof makeRoutes>[0]["compile"];
    readonly queues: readonly string[];
    readonly streams: Parameters<typeof makeRoutes>[0]["streams"];
    readonly log: Logger;
  },
): Promise<HttpServer> {
  const { broker, graphs, ownerId, clock } = deps;
  const { db } = parts;
  const { databaseUrl: url } = config;
  const startedAt = clock.now().toISOString();
  const http = createHttpMetrics();
  const verbs = makeVerbs(deps, () => {
    engine.wake();
  });
  const features = createFeatureAnswers(db);
  const handlers = makeRoutes({
    db,
    domain: parts.domain,
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
    callbacks: takeCallbacks({ db }),
    commands: createCommands(domainCommands(parts.domain)),
    schema: {
      migrate: () => migrate(url),
      rebuild: config.allowRebuild ? () => rebuildSchema(url) : undefined,
    },
    access: parts.access,
    version,
    uiFiles: await openStaticFiles(uiFolder),
    status: () => ({ owner_id: ownerId, started_at: startedAt, ...engine.status() }),
    metrics: () => [
      ...engineMetrics({ ...engine.counters, ...deps.links.counters }),
      http.collect(),
    ],
  });
  return buildServer({
    contracts,
    handlers,
    access: parts.access,
    log: parts.log,
    onAnswered: (timing) => {
      http.observe(timing);
    },
  });
}
