import type { Hear } from "../adapters/postgres/share-listener.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import type { DomainDeps } from "./assets/deps.ts";
import { startExports } from "./assets/start-exports.ts";
import type { DeliveryDeps } from "./partner-callbacks/deliver-callbacks.ts";
import { deliverCallbacks } from "./partner-callbacks/deliver-callbacks.ts";

export interface DomainServices {
  stop(): Promise<void>;
}

/** The domain's background: callbacks, sent when they are due, and exports that follow a change. */
export function startDomainServices(
  deps: { readonly delivery: DeliveryDeps; readonly domain: DomainDeps },
  hear: Hear,
  log: Logger,
): DomainServices {
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
      await startExports(deps.domain);
    },
  });
  const listener = hear(["dag_callbacks", "dag_caches"], (wake) => {
    if (wake.kind === "missed" || wake.channel === "dag_callbacks") callbacks.wake();
    if (wake.kind === "notified" && wake.channel === "dag_caches") {
      deps.domain.engine.workflows.reload().catch((err: unknown) => {
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
