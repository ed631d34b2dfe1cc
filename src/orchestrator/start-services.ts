import { cachesChannel, callbacksChannel } from "../adapters/postgres/channels.ts";
import type { Listen } from "../adapters/postgres/share-listener.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import type { AssetDeps } from "./assets/deps.ts";
import { reconcileExports } from "./assets/export-version.ts";
import type { DeliveryDeps } from "./partner-callbacks/deliver-callbacks.ts";
import { deliverCallbacks } from "./partner-callbacks/deliver-callbacks.ts";

export interface Services {
  stop(): Promise<void>;
}

/**
 * Starts the background services outside of the engine: sending callbacks that are due, reconciling
 * exports, and reading workflow files again when another orchestrator says so.
 */
export function startServices(
  deps: { readonly delivery: DeliveryDeps; readonly assets: AssetDeps },
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
  const listener = listen([callbacksChannel, cachesChannel], (wake) => {
    if (wake.kind === "missed" || wake.channel === callbacksChannel) callbacks.wake();
    if (wake.kind === "notified" && wake.channel === cachesChannel) {
      deps.assets.engine.workflows.reload().catch((err: unknown) => {
        log.warn({ err }, "the workflow files could not be read again");
      });
    }
  });
  callbacks.start();
  exports.start();
  return {
    async stop() {
      await listener.close();
      await callbacks.stop();
      await exports.stop();
    },
  };
}
