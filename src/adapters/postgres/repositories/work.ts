import type { JsonObject } from "../../../core/model/json.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Transaction } from "../queryable.ts";

export interface TaskResultRow {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: "completed" | "failed";
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
  readonly worker_id: string | null;
  readonly started_at: string | null;
}

export interface Work {
  /** The database's clock, in milliseconds: the only one that counts. */
  readonly now: number;
  readonly results: readonly TaskResultRow[];
  /** Nodes whose retry is due. */
  readonly due: readonly { readonly job_id: string; readonly node_id: string }[];
  /** Jobs that somebody asked something of. */
  readonly attention: readonly string[];
  /** When the next retry falls due, in milliseconds from now. */
  readonly next_due_ms: number | null;
}

/** Everything that waits for this orchestrator, in one statement over three small partial indexes. */
export async function findWork(tx: Transaction, ownerId: string, limit: number): Promise<Work> {
  const { rows } = await tx.query<{
    now: number;
    results: TaskResultRow[] | null;
    due: Work["due"] | null;
    attention: string[] | null;
    next_due_ms: number | null;
  }>(
    `SELECT
       (extract(epoch FROM now()) * 1000)::float8 AS now,
       (SELECT json_agg(r) FROM (
          SELECT r.task_id, r.job_id, r.node_id, r.status, r.output, r.error, r.worker_id,
            r.started_at
          FROM dagapp.dag_task_results r JOIN dagapp.dag_jobs j USING (job_id)
          WHERE NOT r.processed AND j.owner_id = $1 LIMIT $2) r) AS results,
       (SELECT json_agg(d) FROM (
          SELECT n.job_id, n.node_id
          FROM dagapp.dag_node_states n JOIN dagapp.dag_jobs j USING (job_id)
          WHERE n.retry_at <= now() AND j.owner_id = $1 AND j.paused_at IS NULL
          ORDER BY n.retry_at LIMIT $2) d) AS due,
       (SELECT json_agg(job_id) FROM (
          SELECT job_id FROM dagapp.dag_jobs WHERE attention AND owner_id = $1 LIMIT $2) a)
         AS attention,
       (SELECT (extract(epoch FROM min(retry_at) - now()) * 1000)::float8
        FROM dagapp.dag_node_states WHERE retry_at > now()) AS next_due_ms`,
    [ownerId, limit],
    "find_work",
  );
  const row = rows[0];
  if (row === undefined) throw new Error("a select without a table gave no row");
  return {
    now: row.now,
    results: row.results ?? [],
    due: row.due ?? [],
    attention: row.attention ?? [],
    next_due_ms: row.next_due_ms,
  };
}

export async function markProcessed(tx: Transaction, taskIds: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE dagapp.dag_task_results SET processed = true WHERE task_id = ANY($1)`,
    [taskIds],
    "mark_processed",
  );
}
