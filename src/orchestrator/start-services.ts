import {
  cachesChannel,
  callbacksChannel,
  handlersChannel,
  taskRequestsChannel,
} from "../adapters/postgres/channels.ts";
import type { Listen } from "../adapters/postgres/share-listener.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import { isOptional } from "../adapters/workflow-files/load-workflow-files.ts";
import { watchFolders } from "../adapters/workflow-files/watch-folders.ts";
import { answerTasks } from "./assets/answer-tasks.ts";
import type { AssetDeps } from "./assets/deps.ts";
import { reconcileExports } from "./assets/export-version.ts";
import type { ServiceCheckDeps } from "./external-services/check-services.ts";
import { checkServices } from "./external-services/check-services.ts";
import { reconcileExternal } from "./layers/publish-external.ts";
import type { FileDeps } from "./files/deps.ts";
import { sweepUploads } from "./files/finish-upload.ts";
import type { HandlerCatalogue } from "./handlers/catalogue.ts";
import type { DeliveryDeps } from "./partner-callbacks/deliver-callbacks.ts";
import { deliverCallbacks } from "./partner-callbacks/deliver-callbacks.ts";
import type { RetentionDeps } from "./retention/remove-old.ts";
import { removeOldInBackground } from "./retention/remove-old.ts";

/** How often workflow files are looked at where the system tells no changes. */
const workflowPollMs = 5000;
/** Workers that register wake the service; this finds what a lost connection missed. */
const handlersPollMs = 30_000;
const retentionPollMs = 15 * 60_000;

export interface Services {
  /** An asset has changed. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Starts the background services outside of the engine: sending callbacks that are due, reconciling
 * exports, answering what tasks ask, finishing uploads, removing what is old, reading which handlers
 * workers offer, and reading workflow files that changed, or all of them when another orchestrator
 * says so or when handlers have changed.
 */
export function startServices(
  deps: {
    readonly delivery: DeliveryDeps;
    readonly assets: AssetDeps;
    readonly serviceChecks: ServiceCheckDeps;
    readonly files: FileDeps;
    readonly retention: RetentionDeps;
    readonly catalogue: HandlerCatalogue;
    readonly workflowPaths: readonly string[];
  },
  listen: Listen,
  log: Logger,
): Services {
  const callbacks = createService({
    name: "callbacks",
    log,
    intervalMs: 30_000,
    runOnce: () => deliverCallbacks(deps.delivery),
  });
  const exports = createService({
    name: "exports",
    log,
    intervalMs: 30_000,
    runOnce: async () => {
      await reconcileExports(deps.assets);
    },
  });
  const external = createService({
    name: "external database",
    log,
    intervalMs: 30_000,
    runOnce: async () => {
      await reconcileExternal(deps.assets);
    },
  });
  const serviceChecks = createService({
    name: "external services",
    log,
    intervalMs: 15_000,
    runOnce: async () => {
      await checkServices(deps.serviceChecks);
    },
  });
  const requests = createService({
    name: "task requests",
    log,
    intervalMs: 5000,
    runOnce: () => answerTasks(deps.assets),
  });
  const uploads = createService({
    name: "uploads",
    log,
    intervalMs: 60_000,
    runOnce: () =>
      sweepUploads(deps.files, (err, upload_id) => {
        log.warn({ err, upload_id }, "an upload could not be finished");
      }),
  });
  const retention = createService({
    name: "retention",
    log,
    intervalMs: retentionPollMs,
    runOnce: () => removeOldInBackground(deps.retention),
  });
  const { workflows } = deps.assets.engine;
  const watched = deps.workflowPaths.map((each) => (isOptional(each) ? each.slice(0, -1) : each));
  const folders = watchFolders(watched, () => {
    files.wake();
  });
  const files = createService({
    name: "workflow files",
    log,
    intervalMs: workflowPollMs,
    runOnce: async () => {
      folders.renew();
      await workflows.refresh();
    },
  });
  const handlers = createService({
    name: "handlers",
    log,
    intervalMs: handlersPollMs,
    runOnce: async () => {
      if (await deps.catalogue.refresh()) await workflows.reload();
    },
  });
  const channels = [callbacksChannel, cachesChannel, handlersChannel, taskRequestsChannel];
  const listener = listen(channels, (wake) => {
    if (wake.kind === "missed" || wake.channel === callbacksChannel) callbacks.wake();
    if (wake.kind === "missed" || wake.channel === handlersChannel) handlers.wake();
    if (wake.kind === "missed" || wake.channel === taskRequestsChannel) requests.wake();
    if (wake.kind === "notified" && wake.channel === cachesChannel) {
      workflows.reload().catch((err: unknown) => {
        log.warn({ err }, "the workflow files could not be read again");
      });
    }
  });
  callbacks.start();
  exports.start();
  external.start();
  serviceChecks.start();
  requests.start();
  files.start();
  handlers.start();
  uploads.start();
  retention.start();
  return {
    wake: () => {
      if (deps.assets.external !== undefined) external.wake();
    },
    async stop() {
      await listener.close();
      await callbacks.stop();
      await exports.stop();
      await external.stop();
      await serviceChecks.stop();
      await handlers.stop();
      await requests.stop();
      await uploads.stop();
      await retention.stop();
      folders.close();
      await files.stop();
    },
  };
}
