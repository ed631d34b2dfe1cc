import type { JobStatus } from "../../../core/model/job.ts";
import type { Json, JsonObject } from "../../../core/model/json.ts";
import { engineChannel } from "../channels.ts";
import type { Queryable, Transaction } from "../queryable.ts";
import { rowStatement } from "../row-statement.ts";
import { searchByKey } from "../search-by-key.ts";

/** The columns that every tick reads again, under the job's lock. */
export interface JobHead {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_hash: string;
  readonly workflow_version: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly correlation_id: string | null;
  readonly submitted_by: string | null;
  /** Where the end of the job is reported if no platform requested the job. */
  readonly callback_url: string | null;
  /** The trace that the job belongs to; null: the job is not traced. */
  readonly trace_parent: string | null;
  readonly paused: boolean;
  readonly cancel_reason: string | null;
  readonly dirty: boolean;
  readonly nodes_unsettled: number;
  readonly event_seq: number;
}

/** The head and the inputs. Inputs can be large and never change, so they are read once. */
export interface JobRow extends JobHead {
  readonly input_params: JsonObject;
}

export const headColumns = `job_id, workflow_id, workflow_hash, workflow_version, status, priority,
  correlation_id, submitted_by, callback_url, trace_parent, paused_at IS NOT NULL AS paused,
  CASE WHEN cancel_requested_at IS NOT NULL THEN coalesce(cancel_reason, '') END AS cancel_reason,
  dirty, nodes_unsettled, event_seq`;

export interface NewJob {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_hash: string;
  readonly workflow_version: string;
  readonly priority: number;
  readonly input_params: JsonObject;
  readonly owner_id: string;
  readonly correlation_id: string | null;
  readonly idempotency_key: string | null;
  readonly submitted_by: string | null;
  readonly callback_url: string | null;
  readonly rerun_of: string | null;
  readonly trace_parent: string | null;
  readonly nodes_total: number;
}

/** A new job with the state after its first evaluation, so that its row is written once. */
export type FirstState = NewJob & Omit<JobUpdate, "expected_event_seq">;

const insertJobsOf = (name: string, traced: boolean) =>
  rowStatement<FirstState>(
    name,
    {
      job_id: ["text", (job) => job.job_id],
      workflow_id: ["text", (job) => job.workflow_id],
      hash: ["text", (job) => job.workflow_hash],
      version: ["text", (job) => job.workflow_version],
      priority: ["smallint", (job) => job.priority],
      inputs: ["json", (job) => JSON.stringify(job.input_params)],
      owner_id: ["text", (job) => job.owner_id],
      correlation_id: ["text", (job) => job.correlation_id],
      idempotency_key: ["text", (job) => job.idempotency_key],
      submitted_by: ["text", (job) => job.submitted_by],
      callback_url: ["text", (job) => job.callback_url],
      rerun_of: ["text", (job) => job.rerun_of],
      total: ["int", (job) => job.nodes_total],
      unsettled: ["int", (job) => job.nodes_unsettled],
      status: ["text", (job) => job.status],
      event_seq: ["int", (job) => job.event_seq],
      result: ["json", (job) => resultText(job)],
      error_code: ["text", (job) => job.error_code],
      error_message: ["text", (job) => job.error_message],
      failed_node_id: ["text", (job) => job.failed_node_id],
      ...(traced && { trace_parent: ["text", (job: FirstState) => job.trace_parent] }),
    },
    (rows) => `
  INSERT INTO dagapp.dag_jobs
    (job_id, workflow_id, workflow_hash, workflow_version, priority, input_params, owner_id,
     correlation_id, idempotency_key, submitted_by, callback_url, rerun_of, nodes_total,
     nodes_unsettled, status, event_seq, result_data, error_code, error_message, failed_node_id,
     started_at, completed_at${traced ? ", trace_parent" : ""})
  SELECT job_id, workflow_id, hash, version, priority, inputs::jsonb, owner_id, correlation_id,
     idempotency_key, submitted_by, callback_url, rerun_of, total, unsettled,
     status::dagapp.job_status, event_seq, result::jsonb, error_code, error_message,
     failed_node_id, CASE WHEN status <> 'pending' THEN now() END,
     CASE WHEN status IN ('completed', 'failed', 'cancelled') THEN now() END
     ${traced ? ", trace_parent" : ""}
  FROM ${rows("t")}
  ON CONFLICT DO NOTHING
  RETURNING job_id`,
  );
const insertPlain = insertJobsOf("insert_jobs", false);
/** Traced jobs have one column more. */
const insertTraced = insertJobsOf("insert_traced_jobs", true);

/**
 * Inserts the jobs whose idempotency key is not taken, and answers their ids. Without keys there can
 * be no conflict, so the statement is sent with the next one and costs no round trip.
 */
export async function insertJobs(
  tx: Transaction,
  jobs: readonly FirstState[],
): Promise<ReadonlySet<string>> {
  const traced = jobs.some((job) => job.trace_parent !== null);
  const { text, values, name } = traced ? insertTraced(jobs) : insertPlain(jobs);
  if (jobs.every((job) => job.idempotency_key === null)) {
    tx.send(text, values, name);
    return new Set(jobs.map((job) => job.job_id));
  }
  const { rows } = await tx.query<{ job_id: string }>(text, values, name);
  return new Set(rows.map((row) => row.job_id));
}

export interface SubmittedJob {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_version: string;
  readonly status: JobStatus;
  readonly input_params: JsonObject;
  readonly idempotency_key: string;
}

export async function findByIdempotencyKeys(
  db: Queryable,
  keys: readonly string[],
): Promise<Map<string, SubmittedJob>> {
  const { rows } = await db.query<SubmittedJob>(
    `SELECT job_id, workflow_id, workflow_version, status, input_params, idempotency_key
     FROM dagapp.dag_jobs WHERE idempotency_key = ANY($1)`,
    [keys],
  );
  return new Map(rows.map((row) => [row.idempotency_key, row]));
}

export async function readInputs(
  db: Queryable,
  jobIds: readonly string[],
): Promise<Map<string, JsonObject>> {
  const { rows } = await db.query<{ job_id: string; input_params: JsonObject }>(
    `SELECT job_id, input_params FROM dagapp.dag_jobs WHERE job_id = ANY($1)`,
    [jobIds],
    "read_inputs",
  );
  return new Map(rows.map((row) => [row.job_id, row.input_params]));
}

/**
 * Reads the heads of those jobs that run, belong to this orchestrator and wait for nothing but reports.
 * Jobs are found by their key alone: a condition on the owner could make the plan use another index.
 */
export async function readRunningHeads(
  db: Queryable,
  jobIds: readonly string[],
  ownerId: string,
): Promise<readonly JobHead[]> {
  const { rows } = await db.query<JobHead & { readonly owner_id: string | null }>(
    `SELECT ${headColumns}, owner_id FROM dagapp.dag_jobs WHERE job_id = ANY($1)`,
    [jobIds],
    "read_heads",
  );
  return rows.filter(
    ({ status, dirty, owner_id }) => status === "running" && !dirty && owner_id === ownerId,
  );
}

/** Locks a job for a change by a user, whichever orchestrator owns it. */
export async function lockJob(tx: Transaction, jobId: string): Promise<JobRow | undefined> {
  const { rows } = await tx.query<JobRow>(
    `SELECT ${headColumns}, input_params FROM dagapp.dag_jobs WHERE job_id = $1 FOR UPDATE`,
    [jobId],
  );
  return rows[0];
}

export interface JobUpdate {
  readonly job_id: string;
  readonly status: JobStatus;
  readonly nodes_unsettled: number;
  readonly event_seq: number;
  /** The event number that the decisions rest on. */
  readonly expected_event_seq: number;
  readonly result: Json | undefined;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly failed_node_id: string | null;
}

/** The code of an open job that its orchestrator cannot settle and leaves out for a while. */
const cannotSettle = "CANNOT_SETTLE";

/** Shows on an open job why it could not be settled; the next update of the job removes it. */
export async function noteSettleError(
  db: Queryable,
  ownerId: string,
  jobId: string,
  message: string,
): Promise<void> {
  await db.query(
    `UPDATE dagapp.dag_jobs SET error_code = '${cannotSettle}', error_message = $3, updated_at = now()
     WHERE job_id = $2 AND owner_id = $1 AND status IN ('pending', 'running')`,
    [ownerId, jobId, message],
  );
}

const updateJobsStatement = rowStatement<JobUpdate>(
  "update_jobs",
  {
    job_id: ["text", (job) => job.job_id],
    status: ["text", (job) => job.status],
    unsettled: ["int", (job) => job.nodes_unsettled],
    event_seq: ["int", (job) => job.event_seq],
    result: ["json", (job) => resultText(job)],
    error_code: ["text", (job) => job.error_code],
    error_message: ["text", (job) => job.error_message],
    failed_node_id: ["text", (job) => job.failed_node_id],
    expected: ["int", (job) => job.expected_event_seq],
  },
  (rows, other) => `WITH updated AS (
       UPDATE dagapp.dag_jobs j SET
         status = u.status::dagapp.job_status,
         nodes_unsettled = u.unsettled,
         event_seq = u.event_seq,
         -- A late result only numbers one more event: how a job ended, and when, is written once.
         result_data = coalesce(u.result::jsonb, j.result_data),
         -- The error of an open job says why it could not be settled: now it could.
         error_code = CASE WHEN j.completed_at IS NULL THEN u.error_code ELSE j.error_code END,
         error_message =
           CASE WHEN j.completed_at IS NULL THEN u.error_message ELSE j.error_message END,
         failed_node_id = coalesce(u.failed_node_id, j.failed_node_id),
         dirty = false,
         version = version + 1,
         updated_at = now(),
         started_at = CASE WHEN u.status <> 'pending' THEN coalesce(j.started_at, now()) END,
         completed_at = CASE WHEN u.status IN ('completed', 'failed', 'cancelled')
           THEN coalesce(j.completed_at, now()) END
       FROM ${rows("u")}
       WHERE ${searchByKey("j.job_id", "u.job_id")} AND j.owner_id = ${other(0)}
         AND j.event_seq = u.expected
       RETURNING 1)
     SELECT dagapp.expect((SELECT count(*) FROM updated) = ${other(1)})`,
);

/**
 * Updates jobs and takes their row locks. The transaction fails unless this orchestrator owns every
 * one of them and its last event is the expected one: each other writer of a job numbers an event.
 */
export function updateJobs(tx: Transaction, updates: readonly JobUpdate[], ownerId: string): void {
  // In the order of job ids, so that two transactions cannot deadlock.
  const ordered = [...updates].sort((a, b) => (a.job_id < b.job_id ? -1 : 1));
  const { text, values, name } = updateJobsStatement(ordered, [ownerId, ordered.length]);
  tx.send(text, values, name);
}

function resultText({ result }: Pick<JobUpdate, "result">): string | null {
  return result === undefined ? null : JSON.stringify(result);
}

export interface RequestChange {
  readonly cancel?: { readonly reason: string };
  readonly pause?: boolean;
  readonly event_seq: number;
}

/** Writes a cancel, pause or resume beside the state; the owner's next tick acts on it. */
export async function recordRequest(
  tx: Transaction,
  jobId: string,
  change: RequestChange,
): Promise<void> {
  await tx.query(
    `WITH woken AS (SELECT pg_notify('${engineChannel}', ''))
     UPDATE dagapp.dag_jobs SET
       cancel_requested_at = CASE WHEN $2::text IS NULL THEN cancel_requested_at ELSE now() END,
       cancel_reason = coalesce($2, cancel_reason),
       paused_at = CASE WHEN $3::boolean IS NULL THEN paused_at WHEN $3 THEN now() END,
       dirty = true, event_seq = $4, version = version + 1, updated_at = now()
     FROM woken WHERE job_id = $1`,
    [jobId, change.cancel?.reason ?? null, change.pause ?? null, change.event_seq],
  );
}
