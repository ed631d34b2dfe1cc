import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import { createPushClient } from "../adapters/broker/postgres-broker/push/client.ts";
import { openLeaseDatabase } from "../adapters/postgres/hot-database.ts";
import { openDatabase } from "../adapters/postgres/database.ts";
import { shareListener } from "../adapters/postgres/share-listener.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createGdal } from "../adapters/gdal/create-gdal.ts";
import { openStorage } from "../adapters/storage/open-storage.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import { createSourceResolver } from "../adapters/storage/resolve-source.ts";
import { zonesByContainer } from "../adapters/storage/settings.ts";
import type { WorkerConfig } from "./config.ts";
import { consume } from "./consume.ts";
import { executeTask } from "./execute-task.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { createHttpReporter } from "./http-reporter.ts";
import { createPostgresReporter } from "./postgres-reporter.ts";
import { handlers } from "./registry.ts";
import { makeWorkFolder } from "./work-folder.ts";

export interface RunningWorker {
  /** To be run in this order: stop the tasks, write their reports, close the connections. */
  readonly stopSteps: readonly { readonly name: string; readonly stop: () => Promise<unknown> }[];
}

export async function startWorker(config: WorkerConfig, log: Logger): Promise<RunningWorker> {
  const { databaseUrl: url, workerId } = config;
  const onConnectionLost = (err: Error) => {
    log.warn({ err }, "a connection to the database was lost");
  };
  const db = openDatabase({ url, applicationName: workerId, max: 3, onConnectionLost });
  const leaseDb = openLeaseDatabase({
    url,
    applicationName: `${workerId} leases`,
    onConnectionLost,
  });
  const listener = shareListener(url, {
    applicationName: `${workerId} listen`,
    onError: (err) => {
      log.warn({ err }, "the listening connection was lost");
    },
  });
  const { listen } = listener;
  // A worker that reports over HTTP gets no push connection: it may reach only the HTTP address.
  const pushClient =
    config.callbackUrl === undefined && config.mayPush
      ? createPushClient({ db, listen, workerId, log })
      : undefined;
  const broker = createPostgresBroker({
    db,
    leaseDb,
    url,
    holder: workerId,
    log,
    listen,
    pushClient,
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
  const work = await makeWorkFolder(path.join(config.dataFolder, "work"), {
    host: config.host,
    pid: process.pid,
  });
  const mountFolder = path.join(config.dataFolder, "mount");
  await mkdir(mountFolder, { recursive: true });
  const storage = await openStorage(config.storage);
  const gdal = await createGdal(config.gdal);
  const { engine, version } = gdal;
  log.info({ engine, version, codecs: gdal.capabilities.codecs }, "GDAL is ready");
  const sources = createSourceResolver({
    storage,
    https: {
      allowedHosts: config.sources.hosts,
      privateNetworks: parseNetworks(config.sources.privateNetworks),
    },
    mounts: [mountFolder, ...config.sources.mounts],
    containers: zonesByContainer(config.storage),
  });
  // A separate pool: handlers that load tables must not take the broker's connections.
  const database =
    config.callbackUrl === undefined
      ? openDatabase({ url, applicationName: `${workerId} handlers`, max: 4, onConnectionLost })
      : undefined;

  const parts = {
    handlers,
    reporter,
    storage,
    sources,
    gdal,
    database,
    workFolder: work.folder,
    mountFolder,
    log,
  };
  const consumption = consume({
    broker,
    queues: config.queues,
    concurrency: config.concurrency,
    execute: (delivery) => executeTask(parts, delivery),
    log,
  });
  const heartbeat = createHeartbeat({
    db,
    log,
    busy: () => consumption.busy(),
    intervalMs: config.heartbeatMs,
    worker: {
      worker_id: workerId,
      host: config.host,
      pid: process.pid,
      version: config.version,
      queues: config.queues,
      slots: config.concurrency,
      gdal: { engine, version, codecs: gdal.capabilities.codecs },
    },
  });
  heartbeat.start();

  return {
    stopSteps: [
      { name: "tasks", stop: () => consumption.close({ graceMs: config.graceMs }) },
      { name: "reports", stop: () => reporter.close() },
      { name: "heartbeat", stop: () => heartbeat.stop() },
      { name: "work folder", stop: () => work.remove() },
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
