import type { Queryable } from "../queryable.ts";
import { iso } from "./conditions.ts";

const seconds = "extract(epoch FROM completed_at - started_at)::float8";

export interface WorkflowMetrics {
  readonly workflow_id: string;
  readonly total_jobs: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly success_rate: number | null;
  readonly avg_duration: number | null;
  readonly p50_duration: number | null;
  readonly p95_duration: number | null;
  readonly common_failures: {
    node_id: string | null;
    error_code: string | null;
    error_message: string | null;
    occurrences: number;
  }[];
}

export async function readWorkflowMetrics(
  db: Queryable,
  { workflow_id, days }: { workflow_id?: string | undefined; days: number },
): Promise<WorkflowMetrics[]> {
  const { rows } = await db.query<WorkflowMetrics>(
    `WITH chosen AS MATERIALIZED (
       SELECT workflow_id, status, started_at, completed_at, failed_node_id, error_code,
              left(error_message, 500) AS error_message
       FROM dagapp.dag_jobs
       WHERE created_at >= now() - make_interval(days => $1) AND ($2::text IS NULL OR workflow_id = $2)),
     ranked AS (
       SELECT workflow_id, failed_node_id, error_code, error_message, count(*) AS occurrences,
              row_number() OVER (PARTITION BY workflow_id ORDER BY count(*) DESC, error_message) AS rank
       FROM chosen WHERE status = 'failed' GROUP BY 1, 2, 3, 4),
     common AS (
       SELECT workflow_id, json_agg(json_build_object('node_id', failed_node_id,
                'error_code', error_code, 'error_message', error_message,
                'occurrences', occurrences) ORDER BY rank) AS failures
       FROM ranked WHERE rank <= 3 GROUP BY 1)
     SELECT workflow_id, count(*) AS total_jobs,
            count(*) FILTER (WHERE status = 'completed') AS completed,
            count(*) FILTER (WHERE status = 'failed') AS failed,
            count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
            avg((status = 'completed')::int) FILTER (WHERE status IN ('completed', 'failed'))::float8
              AS success_rate,
            avg(${seconds}) AS avg_duration,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY ${seconds}) AS p50_duration,
            percentile_cont(0.95) WITHIN GROUP (ORDER BY ${seconds}) AS p95_duration,
            coalesce((SELECT failures FROM common WHERE common.workflow_id = chosen.workflow_id),
              '[]') AS common_failures
     FROM chosen GROUP BY workflow_id ORDER BY total_jobs DESC, workflow_id`,
    [days, workflow_id ?? null],
  );
  return rows;
}

export interface NodeMetrics {
  readonly node_id: string;
  readonly total_executions: number;
  readonly completed: number;
  readonly failed: number;
  readonly success_rate: number | null;
  readonly avg_duration: number | null;
  readonly total_retries: number;
}

/** Only nodes that ran: a node that a conditional skipped has no duration. */
export async function readNodeMetrics(
  db: Queryable,
  workflowId: string,
  days: number,
): Promise<NodeMetrics[]> {
  const { rows } = await db.query<NodeMetrics>(
    `SELECT coalesce(n.parent_node_id, n.node_id) AS node_id, count(*) AS total_executions,
            count(*) FILTER (WHERE n.status = 'completed') AS completed,
            count(*) FILTER (WHERE n.status = 'failed') AS failed,
            avg((n.status = 'completed')::int)
              FILTER (WHERE n.status IN ('completed', 'failed'))::float8 AS success_rate,
            avg(extract(epoch FROM n.completed_at - coalesce(n.started_at, n.dispatched_at))::float8)
              AS avg_duration,
            coalesce(sum(n.retry_count), 0) AS total_retries
     FROM dagapp.dag_jobs j JOIN dagapp.dag_node_states n ON n.job_id = j.job_id
     WHERE j.workflow_id = $1 AND j.created_at >= now() - make_interval(days => $2)
       AND n.handler IS NOT NULL AND n.status IN ('completed', 'failed')
     GROUP BY 1 ORDER BY 1`,
    [workflowId, days],
  );
  return rows;
}

export interface Failure {
  readonly workflow_id: string;
  readonly node_id: string | null;
  readonly error_code: string | null;
  readonly error_message: string;
  readonly occurrences: number;
  readonly last_job_id: string;
  readonly last_at: string;
}

export async function readFailures(
  db: Queryable,
  filter: { workflow_id?: string | undefined; days: number; limit: number },
): Promise<Failure[]> {
  const { rows } = await db.query<Omit<Failure, "last_at"> & { last_at: Date }>(
    `SELECT workflow_id, failed_node_id AS node_id, error_code,
            left(error_message, 500) AS error_message, count(*) AS occurrences,
            (array_agg(job_id ORDER BY completed_at DESC))[1] AS last_job_id,
            max(completed_at) AS last_at
     FROM dagapp.dag_jobs
     WHERE status = 'failed' AND created_at >= now() - make_interval(days => $1)
       AND ($2::text IS NULL OR workflow_id = $2)
     GROUP BY 1, 2, 3, 4 ORDER BY occurrences DESC, last_at DESC LIMIT $3`,
    [filter.days, filter.workflow_id ?? null, filter.limit],
  );
  return rows.map((row) => ({ ...row, last_at: iso(row.last_at) }));
}

export interface Throughput {
  readonly bucket_at: string;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly avg_duration: number | null;
}

/** Steps are counted back from now, so that the last one is complete. */
export async function readThroughput(
  db: Queryable,
  filter: { workflow_id?: string | undefined; hours: number; bucket_minutes: number },
): Promise<Throughput[]> {
  const { rows } = await db.query<Omit<Throughput, "bucket_at"> & { bucket_at: Date }>(
    // Counts before joining: with 100,000 jobs, joining each job with its step took three times as
    // long.
    `WITH counted AS (
       SELECT floor(extract(epoch FROM now() - completed_at) / ($2 * 60))::int AS step,
              count(*) FILTER (WHERE status = 'completed') AS completed,
              count(*) FILTER (WHERE status = 'failed') AS failed,
              count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
              avg(${seconds}) AS avg_duration
       FROM dagapp.dag_jobs
       WHERE completed_at > now() - make_interval(mins => $2) * ceil($1 * 60.0 / $2)
         AND completed_at <= now() AND ($3::text IS NULL OR workflow_id = $3)
       GROUP BY 1)
     SELECT now() - make_interval(mins => $2) * (step + 1) AS bucket_at,
            coalesce(completed, 0) AS completed, coalesce(failed, 0) AS failed,
            coalesce(cancelled, 0) AS cancelled, avg_duration
     FROM generate_series(0, ceil($1 * 60.0 / $2)::int - 1) AS step LEFT JOIN counted USING (step)
     ORDER BY step DESC`,
    [filter.hours, filter.bucket_minutes, filter.workflow_id ?? null],
  );
  return rows.map((row) => ({ ...row, bucket_at: iso(row.bucket_at) }));
}
