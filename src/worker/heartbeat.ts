import type { Database } from "../adapters/postgres/database.ts";
import { writeOffers } from "../adapters/postgres/repositories/handlers.ts";
import { writeWorkerHeartbeat, removeWorker } from "../adapters/postgres/repositories/workers.ts";
import type { WorkerRow } from "../adapters/postgres/repositories/workers.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import type { Service } from "../adapters/runtime/service.ts";
import type { ContractData } from "../core/handlers/contract-data.ts";

export interface HeartbeatDependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly worker: Omit<WorkerRow, "busy">;
  readonly busy: () => number;
  readonly intervalMs: number;
  /** The contracts that this worker offers now; the same array while nothing has changed. */
  readonly offers: () => readonly ContractData[];
}

/**
 * Writes the worker's row at regular times, and deletes it when the worker stops. The contracts are
 * registered after the row is inserted, also if an operator removed it meanwhile, and whenever they
 * change.
 */
export function createHeartbeat(deps: HeartbeatDependencies): Service {
  let registered: readonly ContractData[] | undefined;
  const service = createService({
    name: "heartbeat",
    intervalMs: deps.intervalMs,
    log: deps.log,
    runOnce: async () => {
      const isNew = await writeWorkerHeartbeat(deps.db, { ...deps.worker, busy: deps.busy() });
      const offers = deps.offers();
      if (!isNew && registered === offers) return;
      await writeOffers(deps.db, deps.worker.worker_id, offers);
      registered = offers;
    },
  });
  return {
    ...service,
    async stop() {
      await service.stop();
      await removeWorker(deps.db, deps.worker.worker_id);
    },
  };
}
