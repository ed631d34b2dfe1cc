import type { NodeFact } from "../../../core/dag/evaluate/facts.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Transaction } from "../queryable.ts";
import type { JobHead } from "./jobs.ts";
import { headColumns } from "./jobs.ts";

/** A result in the inbox of its job's owner. */
export interface WaitingResult {
  /** Its place in the inbox. */
  readonly seq: number;
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: "completed" | "failed";
  /** Null for a child that completed: its output stays in the database until the fan-in reads it. */
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
  readonly worker_id: string | null;
  readonly started_at: string | null;
  /** The state of a fan-out child; static nodes are loaded with their job. */
  readonly child: NodeFact | null;
}

/** The waiting work of one orchestrator. */
export interface Work {
  /** The database's clock, in milliseconds. Retry times are compared with no other clock. */
  readonly now: number;
  /** The jobs with waiting work, locked; only those that this orchestrator still owns. */
  readonly jobs: readonly JobHead[];
  readonly results: readonly WaitingResult[];
  /** Nodes whose retry is due. */
  readonly due: readonly { readonly job_id: string; readonly node_id: string }[];
  /** When the next retry falls due, in milliseconds from now. */
  readonly next_due_ms: number | null;
  /** Jobs with waiting work that were left out, because another session has locked them. */
  readonly busy: readonly string[];
  /** One of the lists was cut at the limit. */
  readonly more: boolean;
}

/** Selects one job, or all except the quarantined ones. */
export interface JobFilter {
  readonly only?: string;
  readonly except: readonly string[];
  /** Leaves out jobs that another session has locked, instead of waiting for them. */
  readonly skipLocked?: boolean;
}

/**
 * Keeps the rows whose job this orchestrator owns and the filter selects. LATERAL makes the plan start
 * from the waiting row.
 */
const joinOwnedJob = (jobId: string, more = "") => `
  CROSS JOIN LATERAL (
    SELECT FROM dagapp.dag_jobs j
    WHERE j.job_id = ${jobId} AND j.owner_id = $1 ${more}
      AND ($3::text IS NULL OR j.job_id = $3) AND NOT j.job_id = ANY ($4::text[])
    OFFSET 0) owned_job`;

const readDueSql = `
  SELECT n.job_id, n.node_id FROM dagapp.dag_node_states n
  ${joinOwnedJob("n.job_id", "AND j.paused_at IS NULL")}
  WHERE n.retry_at <= now() LIMIT $2`;

/**
 * The row lock is the fence: an orchestrator that lost a job gets no row of it, so it decides nothing
 * for it. Locks are taken in the order of job ids, so that two transactions cannot deadlock.
 */
const lockWaitingJobsSql = `
  WITH reported AS MATERIALIZED (
    SELECT i.job_id FROM dagapp.dag_task_inbox i ${joinOwnedJob("i.job_id")} ORDER BY i.seq LIMIT $2),
  due AS MATERIALIZED (${readDueSql}),
  dirty AS MATERIALIZED (
    SELECT j.job_id FROM dagapp.dag_jobs j
    WHERE j.dirty AND j.owner_id = $1
      AND ($3::text IS NULL OR j.job_id = $3) AND NOT j.job_id = ANY ($4::text[]) LIMIT $2),
  waiting AS MATERIALIZED (
    SELECT job_id FROM reported UNION SELECT job_id FROM due UNION SELECT job_id FROM dirty)
  SELECT ${headColumns} FROM dagapp.dag_jobs
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM waiting)) AND owner_id = $1
  ORDER BY job_id FOR UPDATE`;
const skipLockedJobsSql = `${lockWaitingJobsSql} SKIP LOCKED`;

const lockJobsSql = `
  SELECT job_id FROM dagapp.dag_jobs WHERE job_id = ANY ($1::text[]) AND owner_id = $2
  FOR UPDATE SKIP LOCKED`;

/** Nodes are found by their primary key alone: a condition on the parent would use another index. */
const readResultsSql = `
  SELECT i.seq, r.task_id, r.job_id, r.node_id, r.status,
    CASE WHEN node.parent_node_id IS NULL THEN r.output END AS output, r.error, r.worker_id,
    r.started_at::text, node.parent_node_id, node.fan_out_index, node.status AS child_status,
    node.attempt, node.retry_count, node.throttle_count,
    CASE WHEN r.status = 'failed' THEN node.input_params END AS params
  FROM dagapp.dag_task_inbox i ${joinOwnedJob("i.job_id")}
  CROSS JOIN LATERAL (
    SELECT * FROM dagapp.dag_task_results WHERE task_id = i.task_id OFFSET 0) r
  LEFT JOIN LATERAL (
    SELECT n.parent_node_id, n.fan_out_index, n.status, n.attempt, n.retry_count,
      n.throttle_count, n.input_params
    FROM dagapp.dag_node_states n
    WHERE n.job_id = r.job_id AND n.node_id = r.node_id OFFSET 0) node ON true
  ORDER BY i.seq LIMIT $2`;

/** Answers at least one row, because a row carries the clock. */
const readDueAndClockSql = `
  SELECT due.*, (extract(epoch FROM now()) * 1000)::float8 AS now,
    (SELECT (extract(epoch FROM min(retry_at) - now()) * 1000)::float8
     FROM dagapp.dag_node_states WHERE retry_at > now()) AS next_due_ms
  FROM (SELECT 1) AS clock LEFT JOIN (${readDueSql}) AS due ON true`;

type DueRow = { readonly now: number; readonly next_due_ms: number | null } & (
  Work["due"][number] | { readonly job_id: null }
);

type ResultRow = Omit<WaitingResult, "child"> &
  (
    | { readonly parent_node_id: null }
    | {
        readonly parent_node_id: string;
        readonly fan_out_index: number;
        readonly child_status: NodeStatus;
        readonly attempt: number;
        readonly retry_count: number;
        readonly throttle_count: number;
        readonly params: JsonObject | null;
      }
  );

/**
 * Locks the jobs that have waiting work and reads that work, in one round trip of three statements
 * over the inbox and two small partial indexes. A result that arrived after the locks were taken
 * belongs to the next tick, unless its job is locked already.
 */
export async function findWork(
  tx: Transaction,
  ownerId: string,
  limit: number,
  filter: JobFilter = { except: [] },
): Promise<Work> {
  const values = [ownerId, limit, filter.only ?? null, filter.except];
  const skips = filter.skipLocked === true;
  const [locked, results, due] = await Promise.all([
    skips
      ? tx.query<JobHead>(skipLockedJobsSql, values, "skip_locked_jobs")
      : tx.query<JobHead>(lockWaitingJobsSql, values, "lock_waiting_jobs"),
    tx.query<ResultRow>(readResultsSql, values, "read_waiting_results"),
    tx.query<DueRow>(readDueAndClockSql, values, "read_due_nodes"),
  ]);
  const [first] = due.rows;
  if (first === undefined) throw new Error("read_due_nodes answered no row");
  const { now, next_due_ms } = first;
  const isLocked = new Set(locked.rows.map(({ job_id }) => job_id));
  const unlocked = new Set<string>();
  for (const { job_id } of [...results.rows, ...due.rows]) {
    if (job_id !== null && !isLocked.has(job_id)) unlocked.add(job_id);
  }
  return {
    now,
    next_due_ms,
    jobs: locked.rows,
    results: results.rows.filter(({ job_id }) => isLocked.has(job_id)).map(toResult),
    due: due.rows.filter((row) => row.job_id !== null).filter(({ job_id }) => isLocked.has(job_id)),
    busy: !skips || unlocked.size === 0 ? [] : await findBusy(tx, [...unlocked], ownerId),
    more: Math.max(results.rows.length, due.rows.length, locked.rows.length) >= limit,
  };
}

/** Of jobs that were not locked: those that are locked elsewhere, and not those whose work is new. */
async function findBusy(
  tx: Transaction,
  jobIds: readonly string[],
  ownerId: string,
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ job_id: string }>(lockJobsSql, [jobIds, ownerId], "lock_jobs");
  const free = new Set(rows.map(({ job_id }) => job_id));
  return jobIds.filter((jobId) => !free.has(jobId));
}

function toResult(row: ResultRow): WaitingResult {
  const { seq, task_id, job_id, node_id, status, output, error, worker_id, started_at } = row;
  const result = { seq, task_id, job_id, node_id, status, output, error, worker_id, started_at };
  if (row.parent_node_id === null) return { ...result, child: null };
  const child: NodeFact = {
    node_id,
    status: row.child_status,
    attempt: row.attempt,
    retry_count: row.retry_count,
    throttle_count: row.throttle_count,
    params: row.params ?? undefined,
    parent: { node_id: row.parent_node_id, index: row.fan_out_index },
  };
  return { ...result, child };
}

/** Removes settled results from the inbox; the results stay, as the history of attempts. */
export function emptyInbox(tx: Transaction, seqs: readonly number[]): void {
  tx.send(`DELETE FROM dagapp.dag_task_inbox WHERE seq = ANY($1)`, [seqs], "empty_inbox");
}
