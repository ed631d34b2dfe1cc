import { orphansChannel } from "../channels.ts";
import type { Queryable, Transaction } from "../queryable.ts";

export interface OrchestratorIdentity {
  readonly owner_id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/**
 * Writes one row, however many jobs the orchestrator owns. Answers the process that wrote it last, if
 * that was another one.
 */
export async function writeHeartbeat(
  db: Queryable,
  { owner_id, host, pid, version }: OrchestratorIdentity,
): Promise<{ readonly host: string; readonly pid: number } | undefined> {
  const { rows } = await db.query<{ host: string | null; pid: number | null }>(
    `WITH earlier AS MATERIALIZED (
       SELECT host, pid FROM dagapp.dag_orchestrators WHERE owner_id = $1
     )
     INSERT INTO dagapp.dag_orchestrators (owner_id, host, pid, version)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (owner_id) DO UPDATE SET host = excluded.host, pid = excluded.pid,
       version = excluded.version, heartbeat_at = now()
     RETURNING (SELECT host FROM earlier), (SELECT pid FROM earlier)`,
    [owner_id, host, pid, version],
  );
  const [last] = rows;
  if (last?.host == null || last.pid === null) return undefined;
  return last.host === host && last.pid === pid ? undefined : { host: last.host, pid: last.pid };
}

/** Writes the orchestrator's row as it is: fails where the database is read-only or its disk full. */
export async function testWrite(db: Queryable, ownerId: string): Promise<void> {
  await db.query("UPDATE dagapp.dag_orchestrators SET host = host WHERE owner_id = $1", [ownerId]);
}

/** Says whether this orchestrator streams events; while any does, `insertEvents` notifies. */
export async function setWatching(db: Queryable, ownerId: string, watches: boolean): Promise<void> {
  await db.query(`UPDATE dagapp.dag_orchestrators SET watches = $2 WHERE owner_id = $1`, [
    ownerId,
    watches,
  ]);
}

/** Releases the jobs of an orchestrator that stops, so that the others take them over at once. */
export async function signOff(tx: Transaction, ownerId: string): Promise<number> {
  const { rowCount } = await tx.query(
    `UPDATE dagapp.dag_jobs SET owner_id = NULL
     WHERE owner_id = $1 AND status IN ('pending', 'running')`,
    [ownerId],
  );
  await tx.query(`DELETE FROM dagapp.dag_orchestrators WHERE owner_id = $1`, [ownerId]);
  await tx.query(`SELECT pg_notify('${orphansChannel}', '')`);
  return rowCount ?? 0;
}

export interface ClaimedJob {
  readonly job_id: string;
  readonly previous_owner: string | null;
  readonly event_seq: number;
}

/**
 * Claims jobs that have no owner, or whose owner's heartbeat is older than the threshold by the
 * database's clock. `event_seq` is the number of the event that the caller must write with the claim.
 */
export async function claimOrphans(
  tx: Transaction,
  ownerId: string,
  thresholdSeconds: number,
  limit: number,
): Promise<readonly ClaimedJob[]> {
  const { rows } = await tx.query<ClaimedJob>(
    `WITH orphans AS (
       SELECT j.job_id, j.owner_id FROM dagapp.dag_jobs j
       WHERE j.status IN ('pending', 'running')
         AND NOT EXISTS (
           SELECT FROM dagapp.dag_orchestrators o
           WHERE o.owner_id = j.owner_id
             AND o.heartbeat_at > now() - $2 * interval '1 second')
       ORDER BY j.job_id LIMIT $3 FOR UPDATE OF j SKIP LOCKED)
     UPDATE dagapp.dag_jobs j
       SET owner_id = $1, dirty = true, event_seq = j.event_seq + 1, updated_at = now()
     FROM orphans WHERE j.job_id = orphans.job_id
     RETURNING j.job_id, orphans.owner_id AS previous_owner, j.event_seq`,
    [ownerId, thresholdSeconds, limit],
  );
  return rows;
}

/** A worker that is only frozen or cut off writes its row again with its next heartbeat. */
export async function deleteStaleWorkers(db: Queryable): Promise<void> {
  await db.query(
    "DELETE FROM dagapp.dag_workers WHERE heartbeat_at < now() - interval '10 minutes'",
  );
}

/** Deletes the rows of orchestrators without jobs and heartbeat, and inbox rows of their finished jobs. */
export async function deleteStaleOrchestrators(
  db: Queryable,
  thresholdSeconds: number,
): Promise<void> {
  await db.query(
    `DELETE FROM dagapp.dag_orchestrators o
     WHERE o.heartbeat_at < now() - 10 * $1 * interval '1 second'
       AND NOT EXISTS (SELECT FROM dagapp.dag_jobs j
         WHERE j.owner_id = o.owner_id AND j.status IN ('pending', 'running'))`,
    [thresholdSeconds],
  );
  await db.query(
    `DELETE FROM dagapp.dag_task_inbox i USING dagapp.dag_jobs j
     WHERE j.job_id = i.job_id
       AND j.status IN ('completed', 'failed', 'cancelled')
       AND NOT EXISTS (SELECT FROM dagapp.dag_orchestrators o WHERE o.owner_id = j.owner_id)`,
  );
}
