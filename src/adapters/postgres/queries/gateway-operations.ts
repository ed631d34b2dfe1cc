/** Queries for operators: jobs by their own ids. Their rows must not be sent to partners. */
import type { JsonObject } from "../../../core/model/json.ts";
import type { JobStatus } from "../../../core/model/job.ts";
import type { NodeStatus, NodeType } from "../../../core/model/node.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions } from "./conditions.ts";
import { isStored } from "./node-rows.ts";
import type { Sent } from "./rows.ts";
import { toPage, toSent } from "./rows.ts";

interface JobRow {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_version: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly correlation_id: string | null;
  readonly idempotency_key: string | null;
  readonly submitted_by: string | null;
  readonly owner_id: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly failed_node_id: string | null;
  readonly nodes_total: number;
  readonly nodes_settled: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly updated_at: Date;
  readonly completed_at: Date | null;
}

const jobColumns = `job_id, workflow_id, workflow_version, status, priority, correlation_id,
  idempotency_key, submitted_by, owner_id, error_code, error_message, failed_node_id, nodes_total,
  nodes_settled, created_at, started_at, updated_at, completed_at`;

export async function findJob(db: Queryable, jobId: string): Promise<Sent<JobRow> | undefined> {
  const { rows } = await db.query<JobRow>(
    `SELECT ${jobColumns} FROM gateway.jobs WHERE job_id = $1`,
    [jobId],
  );
  return rows[0] && toSent(rows[0]);
}

export interface JobFilter {
  readonly status?: JobStatus | undefined;
  readonly active?: boolean | undefined;
  readonly workflow_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly idempotency_key?: string | undefined;
}

export interface JobPlace {
  readonly created_at: string;
  readonly job_id: string;
}

/** The newest first. */
export async function listJobs(
  db: Queryable,
  filter: JobFilter,
  limit: number,
  after?: JobPlace,
): Promise<{ items: Sent<JobRow>[]; next: JobPlace | null }> {
  const where = new Conditions()
    .add("status = ?", filter.status)
    .add("workflow_id = ?", filter.workflow_id)
    .add("correlation_id = ?", filter.correlation_id)
    .add("idempotency_key = ?", filter.idempotency_key);
  if (filter.active === true) where.always("status IN ('pending', 'running')");
  if (after !== undefined) {
    const at = where.value(after.created_at);
    const id = where.value(after.job_id);
    where.always(`(created_at, job_id) < (${at}::timestamptz, ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<JobRow & { place: string }>(
    `SELECT ${jobColumns}, created_at::text AS place FROM gateway.jobs
     WHERE ${where.toString()} ORDER BY created_at DESC, job_id DESC LIMIT ${most}`,
    where.values,
  );
  const { items, last } = toPage(rows, limit);
  return { items, next: last && { created_at: last.place, job_id: last.job_id } };
}

interface NodeRow {
  readonly node_id: string;
  readonly node_type: NodeType;
  readonly status: NodeStatus;
  readonly parent_node_id: string | null;
  readonly fan_out_index: number | null;
  readonly attempt: number;
  readonly retry_count: number;
  readonly handler: string | null;
  readonly queue: string | null;
  readonly worker_id: string | null;
  readonly error: JsonObject | null;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
}

export async function listNodes(
  db: Queryable,
  jobId: string,
  limit: number,
): Promise<Sent<NodeRow>[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT node_id, node_type, status, parent_node_id, fan_out_index, attempt, retry_count,
       handler, queue, worker_id, error, started_at, completed_at
     FROM gateway.nodes WHERE job_id = $1 AND ${isStored("node_id")}
     ORDER BY parent_node_id IS NOT NULL, created_at, node_id LIMIT $2`,
    [jobId, limit],
  );
  return rows.map(toSent);
}

interface EventRow {
  readonly job_id: string;
  readonly seq: number;
  readonly event_type: string;
  readonly event_status: string;
  readonly node_id: string | null;
  readonly task_id: string | null;
  readonly event_data: JsonObject | null;
  readonly created_at: Date;
}

const eventColumns =
  "job_id, seq, event_type, event_status, node_id, task_id, event_data, created_at";

/** The oldest first, after a sequence number. */
export async function listEvents(
  db: Queryable,
  jobId: string,
  after: number,
  limit: number,
): Promise<Sent<EventRow>[]> {
  const { rows } = await db.query<EventRow>(
    `SELECT ${eventColumns} FROM gateway.job_events
     WHERE job_id = $1 AND last_seq > $2 AND seq > $2 ORDER BY last_seq, seq LIMIT $3`,
    [jobId, after, limit],
  );
  return rows.map(toSent);
}

/** The newest first, of all jobs of the last hour. Without that bound it would read every event. */
export async function recentEvents(db: Queryable, limit: number): Promise<Sent<EventRow>[]> {
  const { rows } = await db.query<EventRow>(
    `SELECT ${eventColumns} FROM gateway.job_events
     WHERE created_at > now() - interval '1 hour'
     ORDER BY created_at DESC, job_id, seq DESC LIMIT $1`,
    [limit],
  );
  return rows.map(toSent);
}

export async function countJobs(db: Queryable): Promise<Record<JobStatus, number>> {
  const { rows } = await db.query<{ status: JobStatus; jobs: number }>(
    "SELECT status, count(*) AS jobs FROM gateway.jobs GROUP BY status",
  );
  const none = { pending: 0, running: 0, completed: 0, failed: 0, cancelled: 0 };
  return { ...none, ...Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs])) };
}

export async function countFleet(
  db: Queryable,
): Promise<{ orchestrators: number; workers: number }> {
  const { rows } = await db.query<{ orchestrators: number; workers: number }>(
    `SELECT count(*) FILTER (WHERE kind = 'orchestrator' AND alive) AS orchestrators,
       count(*) FILTER (WHERE kind = 'worker' AND alive) AS workers FROM gateway.fleet`,
  );
  return rows[0] ?? { orchestrators: 0, workers: 0 };
}
