import type { WorkerGdal } from "../../../core/api/fleet.ts";
import { handlersChannel } from "../channels.ts";
import type { Queryable } from "../queryable.ts";

export interface WorkerRow {
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly busy: number;
  /** Null: the worker has no GDAL. */
  readonly gdal: WorkerGdal | null;
}

/** Updates the worker's heartbeat and load. Answers true if its row was missing and is inserted. */
export async function writeWorkerHeartbeat(db: Queryable, worker: WorkerRow): Promise<boolean> {
  const { rows } = await db.query<{ inserted: boolean }>(
    `INSERT INTO dagapp.dag_workers (worker_id, host, pid, version, queues, slots, busy, gdal)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (worker_id) DO UPDATE
     SET host = excluded.host, pid = excluded.pid, version = excluded.version,
         queues = excluded.queues, slots = excluded.slots, busy = excluded.busy,
         gdal = excluded.gdal,
         heartbeat_at = now(),
         started_at = CASE WHEN dag_workers.pid = excluded.pid THEN dag_workers.started_at
                      ELSE now() END
     RETURNING xmax = 0 AS inserted`,
    [
      worker.worker_id,
      worker.host,
      worker.pid,
      worker.version,
      worker.queues,
      worker.slots,
      worker.busy,
      worker.gdal === null ? null : JSON.stringify(worker.gdal),
    ],
    "dag_beat_worker",
  );
  return rows[0]?.inserted ?? false;
}

/** Updates the heartbeat of a worker that is registered already. */
export async function beatWorker(db: Queryable, workerId: string, busy?: number): Promise<void> {
  await db.query(
    `UPDATE dagapp.dag_workers SET heartbeat_at = now(), busy = coalesce($2, busy)
     WHERE worker_id = $1`,
    [workerId, busy ?? null],
    "dag_beat_remote_worker",
  );
}

export async function removeWorker(db: Queryable, workerId: string): Promise<void> {
  // Its offers go with it, so orchestrators are notified.
  await db.query(
    `WITH gone AS (DELETE FROM dagapp.dag_workers WHERE worker_id = $1 RETURNING 1)
     SELECT pg_notify('${handlersChannel}', '') FROM gone`,
    [workerId],
  );
}
