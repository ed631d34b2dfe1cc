import type { JobSummary } from "../../../core/api/job-schemas.ts";
import type { JobStatus } from "../../../core/model/job.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import { addProvenance } from "../../../core/model/provenance.ts";
import { traceIdOf } from "../../../core/trace/trace-parent.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, contains, cut, iso, isoOrNull } from "./conditions.ts";

export interface JobFilter {
  readonly status?: JobStatus | undefined;
  readonly workflow_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly submitted_by?: string | undefined;
  readonly rerun_of?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  readonly search?: string | undefined;
}

/** The sort keys of a job. The time is text, because a Date would lose the microseconds. */
export interface JobPlace {
  readonly created_at: string;
  readonly job_id: string;
}

interface JobRow {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_hash: string;
  readonly workflow_version: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly failed_node_id: string | null;
  readonly owner_id: string | null;
  readonly correlation_id: string | null;
  readonly submitted_by: string | null;
  readonly rerun_of: string | null;
  readonly paused: boolean;
  readonly cancel_requested: boolean;
  readonly cancel_reason: string | null;
  readonly nodes_total: number;
  readonly nodes_unsettled: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly updated_at: Date;
  readonly completed_at: Date | null;
}

interface JobDetailRow extends JobRow {
  readonly input_params: JsonObject;
  readonly result_data: JsonObject | null;
  readonly callback_url: string | null;
  readonly idempotency_key: string | null;
  readonly metadata: JsonObject;
  readonly event_seq: number;
  readonly trace_parent: string | null;
}

const columns = `
  job_id, workflow_id, workflow_hash, workflow_version, status, priority,
  error_code, error_message, failed_node_id, owner_id, correlation_id, submitted_by, rerun_of,
  paused_at IS NOT NULL AS paused, cancel_requested_at IS NOT NULL AS cancel_requested,
  cancel_reason, nodes_total, nodes_unsettled, created_at, started_at, updated_at, completed_at`;

function conditionsOf(filter: JobFilter): Conditions {
  return new Conditions()
    .add("status = ?", filter.status)
    .add("workflow_id = ?", filter.workflow_id)
    .add("correlation_id = ?", filter.correlation_id)
    .add("submitted_by = ?", filter.submitted_by)
    .add("rerun_of = ?", filter.rerun_of)
    .add("created_at > ?", filter.created_after)
    .add("created_at < ?", filter.created_before)
    .add(
      `(job_id ILIKE ? OR workflow_id ILIKE ? OR correlation_id ILIKE ? OR error_message ILIKE ?)`,
      filter.search === undefined ? undefined : contains(filter.search),
    );
}

export async function countMatchingJobs(
  db: Queryable,
  filter: JobFilter,
): Promise<Record<JobStatus | "total", number>> {
  const where = conditionsOf(filter);
  const { rows } = await db.query<{ status: JobStatus; count: number }>(
    `SELECT status, count(*) AS count FROM dagapp.dag_jobs WHERE ${where.toString()} GROUP BY 1`,
    where.values,
  );
  const of = (status: JobStatus) => rows.find((row) => row.status === status)?.count ?? 0;
  return {
    total: rows.reduce((sum, row) => sum + row.count, 0),
    pending: of("pending"),
    running: of("running"),
    completed: of("completed"),
    failed: of("failed"),
    cancelled: of("cancelled"),
  };
}

/** The newest first. */
export async function listJobs(
  db: Queryable,
  filter: JobFilter,
  limit: number,
  after: JobPlace | undefined,
): Promise<{ jobs: JobSummary[]; next: JobPlace | null }> {
  const where = conditionsOf(filter);
  if (after !== undefined) {
    const at = where.value(after.created_at);
    const id = where.value(after.job_id);
    where.always(`(created_at, job_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<JobRow & { place: string }>(
    `SELECT ${columns}, created_at::text AS place
     FROM dagapp.dag_jobs WHERE ${where.toString()}
     ORDER BY created_at DESC, job_id DESC LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    jobs: page.rows.map(toSummary),
    next: page.last && { created_at: page.last.place, job_id: page.last.job_id },
  };
}

export type JobWithoutNodes = JobSummary &
  Pick<
    JobDetailRow,
    "input_params" | "result_data" | "callback_url" | "idempotency_key" | "metadata" | "event_seq"
  > & { readonly trace_id: string | null };

export async function findJob(db: Queryable, jobId: string): Promise<JobWithoutNodes | undefined> {
  const { rows } = await db.query<JobDetailRow>(
    `SELECT ${columns}, input_params, result_data, callback_url, idempotency_key, metadata, event_seq,
       trace_parent
     FROM dagapp.dag_jobs WHERE job_id = $1`,
    [jobId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const { input_params, result_data, callback_url, idempotency_key, metadata, event_seq } = row;
  return {
    ...toSummary(row),
    input_params,
    result_data: result_data && addProvenance(row, result_data),
    callback_url,
    idempotency_key,
    metadata,
    event_seq,
    trace_id: traceIdOf(row.trace_parent),
  };
}

function toSummary(row: JobRow): JobSummary {
  return {
    job_id: row.job_id,
    workflow_id: row.workflow_id,
    workflow_version: row.workflow_version,
    workflow_hash: row.workflow_hash,
    status: row.status,
    paused: row.paused,
    cancel_requested: row.cancel_requested,
    cancel_reason: row.cancel_reason,
    priority: row.priority,
    correlation_id: row.correlation_id,
    submitted_by: row.submitted_by,
    rerun_of: row.rerun_of,
    owner_id: row.owner_id,
    nodes_total: row.nodes_total,
    nodes_settled: row.nodes_total - row.nodes_unsettled,
    error:
      row.error_message === null
        ? null
        : { code: row.error_code, message: row.error_message, node_id: row.failed_node_id },
    created_at: iso(row.created_at),
    started_at: isoOrNull(row.started_at),
    updated_at: iso(row.updated_at),
    completed_at: isoOrNull(row.completed_at),
  };
}

/** Returns those of these jobs that have ended. */
export async function findEnded(
  db: Queryable,
  jobIds: readonly string[],
): Promise<readonly { readonly job_id: string; readonly status: JobStatus }[]> {
  const { rows } = await db.query<{ job_id: string; status: JobStatus }>(
    `SELECT job_id, status FROM dagapp.dag_jobs
     WHERE job_id = ANY($1) AND status IN ('completed', 'failed', 'cancelled')`,
    [jobIds],
  );
  return rows;
}
