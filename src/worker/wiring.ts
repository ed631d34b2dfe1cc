import path from "node:path";
import { createDataFactory } from "../adapters/azure/data-factory.ts";
import type { Broker } from "../adapters/broker/broker.ts";
import { leaseHeader } from "../adapters/broker/broker.ts";
import { createHttpBroker } from "../adapters/broker/http-broker/create-http-broker.ts";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import { openTransport } from "../adapters/broker/outside-broker/open-transport.ts";
import { createPushClient } from "../adapters/broker/postgres-broker/push/client.ts";
import { openLeaseDatabase } from "../adapters/postgres/hot-database.ts";
import type { Database } from "../adapters/postgres/database.ts";
import { openDatabase } from "../adapters/postgres/database.ts";
import { MigrationError } from "../adapters/postgres/migration-files.ts";
import { checkSchema } from "../adapters/postgres/schema-version.ts";
import { shareListener } from "../adapters/postgres/share-listener.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { openTracer } from "../adapters/tracing/open-tracer.ts";
import { createGdal } from "../adapters/gdal/create-gdal.ts";
import { describeUnusable } from "../adapters/gdal/sandbox-failure.ts";
import { openStorage } from "../adapters/storage/open-storage.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import { createRemoteStorage } from "../adapters/storage/remote-storage.ts";
import { createSourceResolver } from "../adapters/storage/resolve-source.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { ApiError } from "../core/api/api-error.ts";
import { createClient } from "../core/api/client.ts";
import type { WorkerConfig } from "./config.ts";
import { consume } from "./consume.ts";
import { executeTask } from "./execute-task.ts";
import type { ContextDependencies } from "./handler-context.ts";
import type { HandlerSet } from "./handler-set.ts";
import { createHandlerSet } from "./handler-set.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { createHttpReporter } from "./http-reporter.ts";
import { createHttpTaskReporter } from "./http-task-reporter.ts";
import { createPostgresReporter } from "./postgres-reporter.ts";
import { handlers as shippedHandlers, withoutDatabase } from "./registry.ts";
import { replaceWorker } from "./replace-worker.ts";
import type { Reporter } from "./reporter.ts";
import { serveHealth } from "./serve-health.ts";
import { makeWorkFolder } from "./work-folder.ts";
import { createWorkerMetrics } from "./worker-metrics.ts";
import { makeFolder } from "../adapters/runtime/make-folder.ts";

interface StopStep {
  readonly name: string;
  readonly stop: () => Promise<unknown>;
}

export interface RunningWorker {
  /** To be run in this order: stop the tasks, write their reports, close the connections. */
  readonly stopSteps: readonly StopStep[];
}

/** What a worker consumes from and reports to. */
interface Connections {
  readonly broker: Pick<Broker, "consume">;
  readonly reporter: Reporter;
  /** Of handlers; undefined: they have none. */
  readonly database: Database | undefined;
  readonly reachOf?: ContextDependencies["reachOf"];
  /** Rejects if tasks cannot be taken now. */
  readonly check: () => Promise<unknown>;
  /** Called when everything runs; `busy` counts the running tasks. */
  readonly start: (busy: () => number) => void;
  /** The handlers have changed. */
  readonly announce: () => Promise<void>;
  /** After the tasks have ended and their reports are written. */
  readonly stopSteps: readonly StopStep[];
}

export async function startWorker(config: WorkerConfig, log: Logger): Promise<RunningWorker> {
  const { callbackUrl, databaseUrl: url } = config;
  const handlers = createHandlerSet(url === undefined ? withoutDatabase : shippedHandlers);
  const work = await makeWorkFolder(path.join(config.dataFolder, "work"), {
    host: config.host,
    pid: process.pid,
  });
  const mountFolder = path.join(config.dataFolder, "mount");
  await makeFolder(mountFolder);
  const gdal = await createGdal(config.gdal);
  const facts = {
    engine: gdal.engine,
    version: gdal.version,
    sandbox: gdal.sandbox,
    sandbox_reason: gdal.unusable.length === 0 ? null : describeUnusable(gdal.unusable),
    codecs: gdal.capabilities.codecs,
  };
  if (gdal.sandbox === "none") log.warn(facts, "GDAL has no sandbox");
  else log.info(facts, "GDAL is ready");
  const storage = await openStorage(config.storage);
  const tracer = await openTracer(config.tracing, log);
  const sourcesOf = (of: Storage) =>
    createSourceResolver({
      storage: of,
      https: {
        allowedHosts: config.sources.hosts,
        privateNetworks: parseNetworks(config.sources.privateNetworks),
        maxBytes: config.sources.maxBytes,
      },
      mounts: [mountFolder, ...config.sources.mounts],
      containers: config.storage.zonesByContainer,
    });
  let announce = (): Promise<unknown> => Promise.resolve();
  const own = config.handlerFolders.length > 0 ? await startOwnHandlers() : undefined;
  const connections =
    url === undefined && callbackUrl !== undefined
      ? await connectByHttp({ ...config, callbackUrl }, handlers, sourcesOf, log)
      : await connectToDatabase({ ...config, databaseUrl: url ?? "" }, handlers, facts, log);
  announce = connections.announce;
  const { broker, reporter, database, reachOf } = connections;
  // Without a port the metrics cannot be read.
  const counted =
    config.health && createWorkerMetrics(config.concurrency, () => consumption.busy());
  const parts = {
    handlers,
    reporter,
    storage,
    sources: sourcesOf(storage),
    gdal,
    database,
    reachOf,
    environment: config.environment,
    dataFactory:
      config.dataFactory === undefined ? undefined : createDataFactory(config.dataFactory),
    workFolder: work.folder,
    mountFolder,
    tracer,
    parameterDefaults: config.parameterDefaults,
    onEnded: counted?.observe,
    log,
  };
  const consumption = consume({
    broker,
    queues: config.queues,
    concurrency: config.concurrency,
    accepts: () => handlers.names(),
    execute: (delivery) => executeTask(parts, delivery),
    log,
  });
  connections.start(() => consumption.busy());
  const { workerId, concurrency } = config;
  const health =
    config.health === undefined
      ? undefined
      : await serveHealth(
          {
            worker_id: workerId,
            version: config.version,
            queues: config.queues,
            slots: concurrency,
            busy: () => consumption.busy(),
            check: connections.check,
            token: config.serviceToken,
            metrics: async () => counted?.metrics.render() ?? "",
          },
          config.health,
        );
  if (health !== undefined) log.info({ port: health.port }, "probes are answered");

  return {
    stopSteps: [
      { name: "health", stop: async () => health?.close() },
      { name: "handler files", stop: async () => own?.stop() },
      { name: "tasks", stop: () => consumption.close({ graceMs: config.graceMs }) },
      { name: "reports", stop: () => reporter.close() },
      { name: "traces", stop: async () => tracer?.close() },
      { name: "work folder", stop: () => work.remove() },
      ...connections.stopSteps,
    ],
  };

  /** Loaded before the worker registers, so that it offers them from its start. */
  async function startOwnHandlers() {
    const { watchHandlers } = await import("./own-handlers/watch-handlers.ts");
    return watchHandlers({
      folders: config.handlerFolders,
      cacheFolder: path.join(config.dataFolder, "handlers"),
      shipped: new Set(shippedHandlers.keys()),
      mayShadow: config.mayShadowHandlers,
      log,
      onChange: async (loaded) => {
        handlers.replaceOwn(loaded);
        await announce();
      },
    });
  }
}

async function connectToDatabase(
  config: WorkerConfig & { readonly databaseUrl: string },
  handlers: HandlerSet,
  gdal: Parameters<typeof createHeartbeat>[0]["worker"]["gdal"],
  log: Logger,
): Promise<Connections> {
  const { databaseUrl: url, workerId } = config;
  const onConnectionLost = (err: Error) => {
    log.warn({ err }, "a connection to the database was lost");
  };
  const db = openDatabase({ url, applicationName: workerId, max: 3, onConnectionLost });
  await checkSchema(db).catch((err: unknown) => {
    if (err instanceof MigrationError) throw err;
    log.warn({ err }, "the schema of the database could not be checked");
  });
  const listener = shareListener(url, {
    applicationName: `${workerId} listen`,
    onError: (err) => {
      log.warn({ err }, "the listening connection was lost");
    },
  });
  const { listen } = listener;
  const accepts = () => handlers.names();
  const transport = await openTransport(config.broker, workerId, log);
  const leaseDb = openLeaseDatabase({
    url,
    applicationName: `${workerId} leases`,
    isDurable: transport !== undefined,
    onConnectionLost,
  });
  // A worker that reports over HTTP gets no push connection: it may reach only the HTTP address.
  const pushClient =
    config.callbackUrl === undefined && config.mayPush
      ? createPushClient({ db, listen, workerId, accepts, log })
      : undefined;
  const broker = createPostgresBroker({
    db,
    leaseDb,
    url,
    holder: workerId,
    log,
    listen,
    pushClient,
    transport,
  });
  const reporter =
    config.callbackUrl === undefined
      ? createPostgresReporter({ db, leaseDb, workerId, log })
      : createHttpReporter({
          callbackUrl: config.callbackUrl,
          serviceToken: config.serviceToken,
          workerId,
          log,
        });
  // A separate pool: handlers that load tables must not take the broker's connections.
  const database =
    config.callbackUrl === undefined
      ? openDatabase({ url, applicationName: `${workerId} handlers`, max: 4, onConnectionLost })
      : undefined;
  if (config.replaces !== undefined) {
    await replaceWorker({ db, broker, reporter, log }, config.replaces).catch((err: unknown) => {
      log.warn({ err }, "the tasks of the dead worker wait until their leases expire");
    });
  }
  let busy = () => 0;
  const heartbeat = createHeartbeat({
    db,
    log,
    busy: () => busy(),
    offers: () => handlers.contracts(),
    intervalMs: config.heartbeatMs,
    worker: {
      worker_id: workerId,
      host: config.host,
      pid: process.pid,
      version: config.version,
      queues: config.queues,
      slots: config.concurrency,
      gdal,
    },
  });
  return {
    broker,
    reporter,
    database,
    check: () => db.query("SELECT"),
    start: (count) => {
      busy = count;
      heartbeat.start();
    },
    announce: async () => {
      pushClient?.announce();
      heartbeat.wake();
    },
    stopSteps: [
      { name: "heartbeat", stop: () => heartbeat.stop() },
      { name: "push client", stop: () => pushClient?.close() ?? Promise.resolve() },
      { name: "broker", stop: () => broker.close() },
      { name: "listener", stop: () => listener.close() },
      {
        name: "database",
        stop: () => Promise.all([db.close(), leaseDb.close(), database?.close()]),
      },
    ],
  };
}

async function connectByHttp(
  config: WorkerConfig & { readonly callbackUrl: string },
  handlers: HandlerSet,
  sourcesOf: (storage: Storage) => ReturnType<typeof createSourceResolver>,
  log: Logger,
): Promise<Connections> {
  const { callbackUrl: url, serviceToken: token, workerId } = config;
  const client = createClient({ baseUrl: url, token, fetch });
  const broker = await createHttpBroker({
    url,
    token,
    client,
    workerId,
    log,
    register: async () => {
      const { lease_seconds } = await client.registerWorker({
        body: {
          worker_id: workerId,
          queues: [...config.queues],
          slots: config.concurrency,
          host: config.host,
          pid: process.pid,
          version: config.version,
          handlers: [...handlers.contracts()],
        },
      });
      return { leaseSeconds: lease_seconds };
    },
  });
  return {
    broker,
    reporter: createHttpTaskReporter({ client, workerId, log }),
    database: undefined,
    reachOf: (delivery) => {
      const lease = String(delivery.headers[leaseHeader]);
      const storage = createRemoteStorage({
        sign: (name, method) =>
          client
            .signAddress({ body: { worker_id: workerId, lease, path: name, method } })
            .catch((error: unknown) => {
              if (error instanceof ApiError && error.code === "NOT_FOUND") return undefined;
              throw error;
            }),
      });
      return { storage, sources: sourcesOf(storage) };
    },
    check: () => client.livez(),
    start: () => undefined,
    announce: () => broker.registerAgain(),
    stopSteps: [{ name: "broker", stop: () => broker.close() }],
  };
}
