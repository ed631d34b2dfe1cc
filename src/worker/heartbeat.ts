import type { Database } from "../adapters/postgres/database.ts";
import { writeWorkerHeartbeat, removeWorker } from "../adapters/postgres/repositories/workers.ts";
import type { WorkerRow } from "../adapters/postgres/repositories/workers.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import type { Service } from "../adapters/runtime/service.ts";

export interface HeartbeatDependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly worker: Omit<WorkerRow, "busy">;
  readonly busy: () => number;
  readonly intervalMs: number;
}

/** Writes the worker's row at regular times, and deletes it when the worker stops. */
export function createHeartbeat(deps: HeartbeatDependencies): Service {
  const service = createService({
    name: "heartbeat",
    intervalMs: deps.intervalMs,
    log: deps.log,
    runOnce: () => writeWorkerHeartbeat(deps.db, { ...deps.worker, busy: deps.busy() }),
  });
  return {
    ...service,
    async stop() {
      await service.stop();
      await removeWorker(deps.db, deps.worker.worker_id);
    },
  };
}
