import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createGdal } from "../../adapters/gdal/create-gdal.ts";
import { parseNetworks } from "../../adapters/net/check-address.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import { makeFolder } from "../../adapters/runtime/make-folder.ts";
import { openStorage } from "../../adapters/storage/open-storage.ts";
import { createSourceResolver } from "../../adapters/storage/resolve-source.ts";
import type { ContractData } from "../../core/handlers/contract-data.ts";
import { describeContract } from "../../core/handlers/contract-data.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { WorkerConfig } from "../config.ts";
import type { Handler, SavedCheckpoint } from "../define-handler.ts";
import { runOnce } from "../execute-task.ts";
import type { RunResult } from "../execute-task.ts";
import { createHandlerSet } from "../handler-set.ts";
import { loadHandlers } from "../own-handlers/load-folder.ts";
import { handlers as shipped } from "../registry.ts";
import type { Reporter } from "../reporter.ts";

async function loadOwn(config: WorkerConfig, log: Logger): Promise<readonly Handler[]> {
  const loaded = await loadHandlers({
    folders: config.handlerFolders,
    cacheFolder: path.join(config.dataFolder, "handlers"),
    shipped: new Set(shipped.keys()),
    mayShadow: config.mayShadowHandlers,
  });
  for (const { file, reason } of loaded.problems) log.error(`${file} cannot be loaded: ${reason}`);
  return loaded.handlers;
}

/** The contracts of the handlers in the user's folders. */
export async function describeOwn(config: WorkerConfig, log: Logger): Promise<ContractData[]> {
  return (await loadOwn(config, log)).map(({ contract }) => describeContract(contract));
}

/** Runs one handler on this machine, without a job, a queue or a database: how one is written. */
export async function runAlone(
  config: WorkerConfig,
  task: { readonly handler: string; readonly params: JsonObject },
  log: Logger,
): Promise<RunResult> {
  const handlers = createHandlerSet(shipped);
  handlers.replaceOwn(await loadOwn(config, log));
  const storage = await openStorage(config.storage);
  const workFolder = await mkdtemp(path.join(tmpdir(), "rmhdag-alone-"));
  const mountFolder = path.join(config.dataFolder, "mount");
  await makeFolder(mountFolder);
  try {
    return await runOnce(
      {
        handlers,
        reporter: createLogReporter(log),
        storage,
        sources: createSourceResolver({
          storage,
          https: {
            allowedHosts: config.sources.hosts,
            privateNetworks: parseNetworks(config.sources.privateNetworks),
            maxBytes: config.sources.maxBytes,
          },
          mounts: [mountFolder, ...config.sources.mounts],
          containers: config.storage.zonesByContainer,
        }),
        gdal: await createGdal(config.gdal),
        database: undefined,
        environment: config.environment,
        workFolder,
        mountFolder,
        log,
      },
      task,
    );
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

/** Prints what a worker would report. */
function createLogReporter(log: Logger): Reporter {
  let saved: SavedCheckpoint | undefined;
  return {
    report: () => Promise.resolve("ok"),
    progress: (_, percent, message) => {
      log.info(`${percent} % ${message ?? ""}`);
    },
    loadCheckpoint: () => Promise.resolve(saved),
    saveCheckpoint: (_, phase, data) => {
      saved = { phase, data: JSON.parse(data) as JsonObject };
      log.info({ phase }, "checkpoint");
      return Promise.resolve("ok");
    },
    // The logger of the task writes to the log of the process as well.
    log: () => undefined,
    close: () => Promise.resolve(),
  };
}
