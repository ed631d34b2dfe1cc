import type { JsonObject } from "../../../core/model/json.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Transaction } from "../queryable.ts";
import type { JobHead } from "./jobs.ts";
import type { NodeRow } from "./nodes.ts";
import { factColumns } from "./nodes.ts";
import { headColumns } from "./jobs.ts";
import { isPlain, plainText, readPlain } from "./plain-results.ts";

export interface TaskResultRow {
  /** Its place in the inbox. */
  readonly seq: number;
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: "completed" | "failed";
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
  readonly worker_id: string | null;
  readonly started_at: string | null;
  /**
   * Of a fan-out child: its state, so that it need not be asked for again. Of one that completed the
   * output stays where it is: nothing depends on it before the fan-in reads them all.
   */
  readonly child: NodeRow | null;
}

export interface Work {
  /** The database's clock, in milliseconds: the only one that counts. */
  readonly now: number;
  /** The jobs that something waits for, locked; only those that this orchestrator still owns. */
  readonly jobs: readonly JobHead[];
  readonly results: readonly TaskResultRow[];
  /** Nodes whose retry is due. */
  readonly due: readonly { readonly job_id: string; readonly node_id: string }[];
  /** When the next retry falls due, in milliseconds from now. */
  readonly next_due_ms: number | null;
  /** One of the lists was cut at the limit. */
  readonly more: boolean;
}

interface WorkRow {
  readonly now: number;
  readonly jobs: JobHead[] | null;
  /** Of tasks that completed as they were expected to: see `readPlain`. */
  readonly plain: string | null;
  readonly results: TaskResultRow[] | null;
  readonly due: Work["due"] | null;
  readonly attention: number;
  readonly next_due_ms: number | null;
}

/** Which jobs to look at: one alone, or all but those that are set aside. */
export interface Which {
  readonly only?: string;
  readonly except: readonly string[];
}

const wanted = `($3::text IS NULL OR j.job_id = $3) AND NOT j.job_id = ANY ($4::text[])`;

/**
 * Everything that waits for this orchestrator, and the locks on its jobs, in one statement over the
 * inbox and two small partial indexes.
 *
 * The lock is the fence: an orchestrator that lost a job gets no row of it, so nothing it decides is
 * written. Locks are taken in one order, so that two transactions cannot wait for each other. Each
 * list starts from its partial index and asks the job afterwards (LATERAL), which costs what is
 * waiting and not what is stored; a row that is read before its job's lock and is stale after it is
 * recognised by its attempt.
 */
export async function findWork(
  tx: Transaction,
  ownerId: string,
  limit: number,
  which: Which = { except: [] },
): Promise<Work> {
  const { rows } = await tx.query<WorkRow>(
    `WITH results AS MATERIALIZED (
       SELECT r.job_id, CASE WHEN is_plain THEN ${plainText} END AS plain,
         CASE WHEN NOT is_plain THEN json_build_object(
           'seq', i.seq, 'task_id', r.task_id, 'job_id', r.job_id, 'node_id', r.node_id,
           'status', r.status, 'output', CASE WHEN node.parent_node_id IS NULL THEN r.output END,
           'error', r.error, 'worker_id', r.worker_id, 'started_at', r.started_at,
           'child', CASE WHEN node.parent_node_id IS NULL THEN NULL ELSE to_json(node) END)
         END AS other
       FROM dagapp.dag_task_inbox i
       CROSS JOIN LATERAL (
         SELECT FROM dagapp.dag_jobs j
         WHERE j.job_id = i.job_id AND j.owner_id = $1 AND ${wanted} OFFSET 0) mine
       CROSS JOIN LATERAL (
         SELECT * FROM dagapp.dag_task_results WHERE task_id = i.task_id OFFSET 0) r
       -- By the primary key alone: a word about the parent would bring in the index of children.
       LEFT JOIN LATERAL (
         SELECT ${factColumns} FROM dagapp.dag_node_states n
         WHERE n.job_id = r.job_id AND n.node_id = r.node_id OFFSET 0) node ON true
       CROSS JOIN LATERAL (SELECT E'\\x1f'::text AS f OFFSET 0) separator
       CROSS JOIN LATERAL (SELECT coalesce(${isPlain}, false) AS is_plain OFFSET 0) kind
       ORDER BY i.seq LIMIT $2),
     due AS MATERIALIZED (
       SELECT n.job_id, n.node_id FROM dagapp.dag_node_states n
       CROSS JOIN LATERAL (
         SELECT FROM dagapp.dag_jobs j
         WHERE j.job_id = n.job_id AND j.owner_id = $1 AND j.paused_at IS NULL AND ${wanted}
         OFFSET 0) mine
       WHERE n.retry_at <= now() LIMIT $2),
     attention AS MATERIALIZED (
       SELECT job_id FROM dagapp.dag_jobs j
       WHERE attention AND owner_id = $1 AND ${wanted} LIMIT $2),
     waiting AS MATERIALIZED (
       SELECT job_id FROM results UNION SELECT job_id FROM due UNION SELECT job_id FROM attention),
     jobs AS MATERIALIZED (
       SELECT ${headColumns} FROM dagapp.dag_jobs
       WHERE job_id = ANY (ARRAY(SELECT job_id FROM waiting)) AND owner_id = $1
       ORDER BY job_id FOR UPDATE)
     SELECT
       (extract(epoch FROM now()) * 1000)::float8 AS now,
       (SELECT json_agg(jobs) FROM jobs) AS jobs,
       (SELECT string_agg(plain, E'\\x1e') FROM results) AS plain,
       (SELECT json_agg(other) FROM results WHERE other IS NOT NULL) AS results,
       (SELECT json_agg(due) FROM due) AS due,
       (SELECT count(*) FROM attention) AS attention,
       (SELECT (extract(epoch FROM min(retry_at) - now()) * 1000)::float8
        FROM dagapp.dag_node_states WHERE retry_at > now()) AS next_due_ms`,
    [ownerId, limit, which.only ?? null, which.except],
    "find_work",
  );
  const row = rows[0];
  if (row === undefined) throw new Error("a select without a table gave no row");
  const jobs = row.jobs ?? [];
  const results = [...readPlain(row.plain), ...(row.results ?? [])];
  const due = row.due ?? [];
  const more = Math.max(results.length, due.length, row.attention) >= limit;
  return { now: row.now, jobs, results, due, next_due_ms: row.next_due_ms, more };
}

/**
 * Children that completed: their outputs go from the results to the nodes within the database, and
 * never through this program.
 */
export function completeChildren(tx: Transaction, taskIds: readonly string[]): void {
  tx.send(
    `WITH updated AS (
       UPDATE dagapp.dag_node_states n SET
         status = 'completed', output = r.output, error = NULL, completed_at = now(),
         worker_id = coalesce(r.worker_id, n.worker_id),
         started_at = coalesce(r.started_at, n.started_at)
       FROM dagapp.dag_task_results r
       WHERE r.task_id = ANY($1) AND n.job_id = r.job_id AND n.node_id = r.node_id
         AND n.status = 'dispatched' AND n.task_id = r.task_id
       RETURNING 1)
     SELECT dagapp.insist((SELECT count(*) FROM updated) = $2)`,
    [taskIds, taskIds.length],
    "complete_children",
  );
}

/** Their results stay, as the history of attempts. */
export function emptyInbox(tx: Transaction, seqs: readonly number[]): void {
  tx.send(`DELETE FROM dagapp.dag_task_inbox WHERE seq = ANY($1)`, [seqs], "empty_inbox");
}
