import type { WorkerGdal } from "../../../core/api/fleet.ts";
import type { JobStatus } from "../../../core/model/job.ts";
import type { Queryable } from "../queryable.ts";

/** Six heartbeats of ten seconds, so that a single late one does not make a worker look dead. */
export const workerIsAlive = "heartbeat_at > now() - interval '60 seconds'";
/** The default of the take-over: an orchestrator that is silent for longer loses its jobs. */
const orchestratorIsAlive = "heartbeat_at > now() - interval '120 seconds'";

interface Member {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  readonly alive: boolean;
}

export interface WorkerRow extends Member {
  readonly worker_id: string;
  readonly queues: string[];
  readonly slots: number;
  readonly busy: number;
  readonly gdal: WorkerGdal | null;
}

export async function listWorkers(db: Queryable): Promise<WorkerRow[]> {
  const { rows } = await db.query<WorkerRow>(
    `SELECT worker_id, host, pid, version, queues, slots, busy, gdal, started_at, heartbeat_at,
            ${workerIsAlive} AS alive
     FROM dagapp.dag_workers ORDER BY worker_id`,
  );
  return rows;
}

export interface OrchestratorRow extends Member {
  readonly owner_id: string;
  readonly jobs: number;
}

export async function listOrchestrators(db: Queryable): Promise<OrchestratorRow[]> {
  const { rows } = await db.query<OrchestratorRow>(
    `SELECT owner_id, host, pid, version, started_at, heartbeat_at, ${orchestratorIsAlive} AS alive,
            (SELECT count(*) FROM dagapp.dag_jobs j
             WHERE j.owner_id = o.owner_id AND j.status IN ('pending', 'running')) AS jobs
     FROM dagapp.dag_orchestrators o ORDER BY owner_id`,
  );
  return rows;
}

/** Every status is present, also with a count of zero. */
export async function countJobs(db: Queryable): Promise<Record<JobStatus, number>> {
  const { rows } = await db.query<{ status: JobStatus; count: number }>(
    "SELECT status, count(*) AS count FROM dagapp.dag_jobs GROUP BY status",
  );
  const counts = { pending: 0, running: 0, completed: 0, failed: 0, cancelled: 0 };
  for (const { status, count } of rows) counts[status] = count;
  return counts;
}

/** 0 where every job has ended. */
export async function oldestOpenJobSeconds(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ seconds: number | null }>(
    `SELECT extract(epoch FROM now() - min(created_at))::float8 AS seconds
     FROM dagapp.dag_jobs WHERE status IN ('pending', 'running')`,
  );
  return rows[0]?.seconds ?? 0;
}

/** Open jobs that no orchestrator can settle now; each shows its error. */
export async function countStuckJobs(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ stuck: number }>(
    `SELECT count(*) AS stuck FROM dagapp.dag_jobs
     WHERE status IN ('pending', 'running') AND error_message IS NOT NULL`,
  );
  return rows[0]?.stuck ?? 0;
}

/** Counts the active jobs that this orchestrator owns, and those that no orchestrator owns. */
export async function countOwned(
  db: Queryable,
  ownerId: string,
): Promise<{ owned: number; unowned: number }> {
  const { rows } = await db.query<{ owned: number; unowned: number }>(
    `SELECT count(*) FILTER (WHERE owner_id = $1) AS owned,
            count(*) FILTER (WHERE owner_id IS NULL) AS unowned
     FROM dagapp.dag_jobs WHERE status IN ('pending', 'running')`,
    [ownerId],
  );
  return rows[0] ?? { owned: 0, unowned: 0 };
}
