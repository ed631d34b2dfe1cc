import type { JobEvent } from "../../../core/api/job-schemas.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut, iso, isoOrNull } from "./conditions.ts";

export interface EventFilter {
  readonly after: number;
  readonly event_type?: string | undefined;
  readonly event_status?: string | undefined;
  readonly node_id?: string | undefined;
}

/** The oldest first, after a sequence number. */
export async function readEvents(
  db: Queryable,
  jobId: string,
  filter: EventFilter,
  limit: number,
): Promise<{ events: JobEvent[]; next: number | null }> {
  const where = new Conditions()
    .add("job_id = ?", jobId)
    .add("seq > ?", filter.after)
    .add("last_seq > ?", filter.after)
    .add("event_type = ?", filter.event_type)
    .add("event_status = ?", filter.event_status)
    .add("node_id = ?", filter.node_id);
  const most = where.value(limit + 1);
  const { rows } = await db.query<Omit<JobEvent, "created_at"> & { created_at: Date }>(
    `SELECT seq, event_type, event_status, node_id, task_id, checkpoint_name, event_data, created_at
     FROM dagapp.dag_unpacked_events WHERE ${where.toString()}
     ORDER BY last_seq, seq LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  const events = page.rows.map((row) => ({ ...row, created_at: iso(row.created_at) }));
  return { events, next: page.last?.seq ?? null };
}

const levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof levels)[number];

export interface LogLine {
  readonly log_id: number;
  readonly node_id: string;
  readonly task_id: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly data: JsonObject | null;
  readonly logged_at: string;
}

export async function readLogs(
  db: Queryable,
  jobId: string,
  filter: {
    after: number;
    node_id?: string | undefined;
    task_id?: string | undefined;
    level?: LogLevel | undefined;
  },
  limit: number,
): Promise<{ lines: LogLine[]; next: number | null }> {
  const from = filter.level === undefined ? undefined : levels.slice(levels.indexOf(filter.level));
  const where = new Conditions()
    .add("job_id = ?", jobId)
    .add("log_id > ?", filter.after)
    .add("node_id = ?", filter.node_id)
    .add("task_id = ?", filter.task_id)
    .add("level = ANY (?)", from);
  const most = where.value(limit + 1);
  const { rows } = await db.query<Omit<LogLine, "logged_at"> & { logged_at: Date }>(
    `SELECT log_id, node_id, task_id, level, message, data, logged_at
     FROM dagapp.dag_task_logs WHERE ${where.toString()} ORDER BY log_id LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  const lines = page.rows.map((row) => ({ ...row, logged_at: iso(row.logged_at) }));
  return { lines, next: page.last?.log_id ?? null };
}

export interface Attempt {
  readonly task_id: string;
  readonly status: "completed" | "failed";
  readonly worker_id: string | null;
  readonly error: TaskError | null;
  readonly started_at: string | null;
  readonly reported_at: string;
  readonly metrics: JsonObject | null;
  readonly execution_duration_ms: number | null;
}

/** Finds attempts of a node by their ids, because results have no index by node. */
export async function readAttempts(
  db: Queryable,
  jobId: string,
  nodeId: string,
  taskIds: readonly string[],
): Promise<Attempt[]> {
  const { rows } = await db.query<
    Omit<Attempt, "started_at" | "reported_at"> & { started_at: Date | null; reported_at: Date }
  >(
    `SELECT r.task_id, status, worker_id, error, started_at, r.reported_at, metrics,
       execution_duration_ms
     FROM dagapp.dag_attempts AS r LEFT JOIN dagapp.dag_task_metrics USING (task_id)
     WHERE r.task_id = ANY ($1) AND r.job_id = $2 AND r.node_id = $3
     ORDER BY r.reported_at, r.task_id`,
    [taskIds, jobId, nodeId],
  );
  return rows.map((row) => ({
    ...row,
    started_at: isoOrNull(row.started_at),
    reported_at: iso(row.reported_at),
  }));
}

export interface Checkpoint {
  readonly seq: number;
  readonly task_id: string;
  readonly phase: string;
  readonly data: JsonObject;
  readonly created_at: string;
}

export async function readCheckpoints(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<Checkpoint[]> {
  const { rows } = await db.query<Omit<Checkpoint, "created_at"> & { created_at: Date }>(
    `SELECT seq, task_id, phase, data, created_at FROM dagapp.dag_checkpoints
     WHERE job_id = $1 AND node_id = $2 ORDER BY seq`,
    [jobId, nodeId],
  );
  return rows.map((row) => ({ ...row, created_at: iso(row.created_at) }));
}

/** The newest checkpoint of each node, by "job node". */
export async function readNewestCheckpoints(
  db: Queryable,
  tasks: readonly { readonly job_id: string; readonly node_id: string }[],
): Promise<ReadonlyMap<string, { readonly phase: string; readonly data: JsonObject }>> {
  if (tasks.length === 0) return new Map();
  const { rows } = await db.query<{ key: string; phase: string; data: JsonObject }>(
    `SELECT DISTINCT ON (c.job_id, c.node_id) c.job_id || ' ' || c.node_id AS key, phase, data
     FROM dagapp.dag_checkpoints AS c
     JOIN unnest($1::text[], $2::text[]) AS t(job_id, node_id)
       ON c.job_id = t.job_id AND c.node_id = t.node_id
     ORDER BY c.job_id, c.node_id, seq DESC`,
    [tasks.map(({ job_id }) => job_id), tasks.map(({ node_id }) => node_id)],
  );
  return new Map(rows.map(({ key, phase, data }) => [key, { phase, data }]));
}
