import type { WorkerGdal } from "../../../core/api/fleet.ts";
import type { Queryable } from "../queryable.ts";

export interface WorkerRow {
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly busy: number;
  readonly gdal: WorkerGdal;
}

/** Inserts the worker's row if it is missing, otherwise updates its heartbeat and load. */
export async function writeWorkerHeartbeat(db: Queryable, worker: WorkerRow): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.dag_workers (worker_id, host, pid, version, queues, slots, busy, gdal)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (worker_id) DO UPDATE
     SET host = excluded.host, pid = excluded.pid, version = excluded.version,
         queues = excluded.queues, slots = excluded.slots, busy = excluded.busy,
         gdal = excluded.gdal,
         heartbeat_at = now(),
         started_at = CASE WHEN dag_workers.pid = excluded.pid THEN dag_workers.started_at
                      ELSE now() END`,
    [
      worker.worker_id,
      worker.host,
      worker.pid,
      worker.version,
      worker.queues,
      worker.slots,
      worker.busy,
      JSON.stringify(worker.gdal),
    ],
    "dag_beat_worker",
  );
}

export async function removeWorker(db: Queryable, workerId: string): Promise<void> {
  await db.query("DELETE FROM dagapp.dag_workers WHERE worker_id = $1", [workerId]);
}
