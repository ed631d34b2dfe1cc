/**
 * Reads nodes together with their leases.
 *
 * The engine writes no row when a worker starts a task, which saves one write for each task. A
 * dispatched node whose message is leased IS running, and the lease says since when, on which
 * worker and how far. So every read of a node joins its lease.
 */
import type { NodeSummary } from "../../../core/api/job-schemas.ts";
import { implicitNodes } from "../../../core/dag/implicit-nodes.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { NodeStatus, NodeType } from "../../../core/model/node.ts";
import type { TaskError } from "../../../core/model/task.ts";
import { iso, isoOrNull } from "./conditions.ts";

export interface NodeRow {
  readonly job_id: string;
  readonly node_id: string;
  readonly node_type: NodeType;
  readonly stored_status: NodeStatus;
  readonly status: NodeStatus;
  readonly parent_node_id: string | null;
  readonly fan_out_index: number | null;
  readonly attempt: number;
  readonly retry_count: number;
  readonly throttle_count: number;
  readonly max_retries: number;
  readonly task_id: string | null;
  readonly handler: string | null;
  readonly queue: string | null;
  readonly worker_id: string | null;
  readonly error: TaskError | null;
  readonly fan_out: FanOutColumn | null;
  /** Only of a conditional: the branch that it took. */
  readonly branch: JsonObject | null;
  readonly progress_percent: number | null;
  readonly progress_message: string | null;
  readonly retry_at: Date | null;
  readonly created_at: Date;
  readonly dispatched_at: Date | null;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
}

interface FanOutColumn {
  readonly total: number;
  readonly next_index: number;
  readonly completed: number;
  readonly failed: number;
  readonly failed_indexes: readonly number[];
}

/** The columns of a node `n` and of its lease `l`, if there is one. */
export const nodeColumns = `
  n.job_id, n.node_id, n.node_type, n.status AS stored_status,
  CASE WHEN l.worker_id IS NULL THEN n.status ELSE 'running' END AS status,
  n.parent_node_id, n.fan_out_index, n.attempt, n.retry_count, n.throttle_count, n.max_retries,
  n.task_id, n.handler, n.queue, coalesce(l.worker_id, n.worker_id) AS worker_id, n.error, n.fan_out,
  CASE WHEN n.node_type = 'conditional' THEN n.output END AS branch,
  l.progress_percent, l.progress_message, n.retry_at, n.created_at, n.dispatched_at,
  coalesce(l.started_at, n.started_at) AS started_at, n.completed_at`;

/**
 * Joins at most one lease for each node of a job, even if a message was sent twice. `job` is SQL of its id;
 * `nodes`, if given, is SQL of the array of the nodes that are read: a job can have thousands of other leases.
 *
 * The leases of the job are read once and searched by the ids of their tasks in a JSON object, whose last
 * entry of an id counts. PostgreSQL has no other plan for that, whatever it believes of the tables: a join may
 * compare every node with every lease.
 */
export function withLease(job: string, nodes?: string): string {
  const dispatched = `FROM dagapp.dag_node_states
        WHERE job_id = ${job} AND node_id = ANY (${nodes ?? ""}) AND status = 'dispatched'`;
  // EXISTS comes first: where none of the nodes is dispatched, no lease is read.
  const ofNodes = `AND EXISTS (SELECT ${dispatched})
        AND task_id = ANY (ARRAY(SELECT task_id ${dispatched}))`;
  return `
  CROSS JOIN (
    WITH leases AS MATERIALIZED (
      SELECT jsonb_object_agg(task_id, jsonb_build_array(worker_id, started_at, progress_percent,
        progress_message) ORDER BY started_at) AS by_task
      FROM dagapp.dag_running_tasks
      WHERE job_id = ${job} ${nodes === undefined ? "" : ofNodes})
    SELECT by_task FROM leases
  ) AS leases
  CROSS JOIN LATERAL (
    SELECT CASE WHEN n.status = 'dispatched' THEN leases.by_task -> n.task_id END AS lease
  ) AS of_task
  CROSS JOIN LATERAL (
    SELECT lease ->> 0 AS worker_id, (lease ->> 1)::timestamptz AS started_at,
      (lease ->> 2)::real AS progress_percent, lease ->> 3 AS progress_message
  ) AS l`;
}

/** The condition for nodes that have rows: jobs of earlier releases have some for implicit nodes too. */
export function isStored(column: string): string {
  return `${column} <> ALL ('{${implicitNodes.join(",")}}')`;
}

/** The condition for rows that a reader sees in this status. */
export function statusCondition(status: NodeStatus | undefined): string {
  if (status === undefined) return "true";
  if (status === "running") return "(n.status = 'running' OR l.worker_id IS NOT NULL)";
  if (status === "dispatched") return "(n.status = 'dispatched' AND l.worker_id IS NULL)";
  return `n.status = '${status}'`;
}

/** The columns of one row; why it waits and the counts of its children need the whole job. */
export function toNodeColumns(row: NodeRow): Omit<NodeSummary, "wait_reason" | "children"> {
  return {
    node_id: row.node_id,
    node_type: row.node_type,
    status: row.status,
    parent_node_id: row.parent_node_id,
    fan_out_index: row.fan_out_index,
    attempt: row.attempt,
    retry_count: row.retry_count,
    max_retries: row.max_retries,
    task_id: row.task_id,
    handler: row.handler,
    queue: row.queue,
    worker_id: row.worker_id,
    error: row.error,
    progress:
      row.progress_percent === null
        ? null
        : { percent: row.progress_percent, message: row.progress_message },
    branch: typeof row.branch?.["branch"] === "number" ? row.branch["branch"] : null,
    retry_at: isoOrNull(row.retry_at),
    created_at: iso(row.created_at),
    dispatched_at: isoOrNull(row.dispatched_at),
    started_at: isoOrNull(row.started_at),
    completed_at: isoOrNull(row.completed_at),
  };
}
