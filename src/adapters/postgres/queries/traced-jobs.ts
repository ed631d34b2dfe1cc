import type { JobStatus } from "../../../core/model/job.ts";
import type { Queryable } from "../queryable.ts";

/** A traced job that has ended, with the trace of the job that it runs again. */
export interface EndedTracedJob {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_version: string;
  readonly status: JobStatus;
  readonly trace_parent: string;
  readonly nodes_total: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly failed_node_id: string | null;
  readonly rerun_of: string | null;
  readonly first_trace_parent: string | null;
  /** In milliseconds since 1970. */
  readonly created_ms: number;
  readonly completed_ms: number;
}

export async function findEndedTracedJobs(
  db: Queryable,
  jobIds: readonly string[],
): Promise<readonly EndedTracedJob[]> {
  const { rows } = await db.query<EndedTracedJob>(
    `SELECT j.job_id, j.workflow_id, j.workflow_version, j.status, j.trace_parent, j.nodes_total,
       j.error_code, j.error_message, j.failed_node_id, j.rerun_of,
       first_job.trace_parent AS first_trace_parent,
       (extract(epoch FROM j.created_at) * 1000)::float8 AS created_ms,
       (extract(epoch FROM j.completed_at) * 1000)::float8 AS completed_ms
     FROM dagapp.dag_jobs j LEFT JOIN dagapp.dag_jobs first_job ON first_job.job_id = j.rerun_of
     WHERE j.job_id = ANY ($1) AND j.trace_parent IS NOT NULL AND j.completed_at IS NOT NULL`,
    [jobIds],
  );
  return rows;
}
