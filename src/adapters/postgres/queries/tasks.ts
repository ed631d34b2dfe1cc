import type { CurrentTask } from "../../../core/api/job-schemas.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut, iso, isoOrNull } from "./conditions.ts";

export interface TaskPlace {
  readonly created_at: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly task_id: string;
}

interface TaskRow {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: "completed" | "failed";
  readonly error: TaskError | null;
  readonly worker_id: string | null;
  readonly started_at: Date | null;
  readonly reported_at: Date;
  readonly seconds: number | null;
  readonly output_bytes: number | null;
}

export type Task = Omit<TaskRow, "started_at" | "reported_at"> & {
  readonly started_at: string | null;
  readonly reported_at: string;
};

/**
 * Lists how attempts ended, those of the newest jobs first. It reads from the jobs to their nodes and
 * from the numbers of a node's attempts to their ends, so that results need no index of their own.
 */
export async function listTasks(
  db: Queryable,
  filter: {
    job_id?: string | undefined;
    node_id?: string | undefined;
    status?: "completed" | "failed" | undefined;
    worker_id?: string | undefined;
  },
  limit: number,
  after: TaskPlace | undefined,
): Promise<{ tasks: Task[]; next: TaskPlace | null }> {
  const where = new Conditions()
    .add("j.job_id = ?", filter.job_id)
    .add("n.node_id = ?", filter.node_id)
    .add("r.status = ?", filter.status)
    .add("r.worker_id = ?", filter.worker_id);
  if (after !== undefined) {
    const at = where.value(after.created_at);
    const job = where.value(after.job_id);
    const node = where.value(after.node_id);
    const task = where.value(after.task_id);
    where.always(`(j.created_at, j.job_id) <= (${at}::timestamptz, ${job})`);
    where.always(`((j.created_at, j.job_id) < (${at}::timestamptz, ${job})
      OR (n.node_id, r.task_id) > (${node}, ${task}))`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<TaskRow & { place: string }>(
    `SELECT r.task_id, r.job_id, r.node_id, r.status, r.error, r.worker_id, r.started_at,
            r.reported_at, extract(epoch FROM r.reported_at - r.started_at)::float8 AS seconds,
            pg_column_size(r.output) AS output_bytes, j.created_at::text AS place
     FROM dagapp.dag_jobs j
     JOIN dagapp.dag_node_states n ON n.job_id = j.job_id
     JOIN LATERAL (
       SELECT * FROM dagapp.dag_attempts a
       WHERE a.job_id = n.job_id AND a.node_id = n.node_id AND a.task_id = ANY (ARRAY(
         SELECT n.job_id || '_' || n.node_id || '_' || attempt
         FROM generate_series(0, n.attempt) AS attempt))
     ) r ON true
     WHERE ${where.toString()}
     ORDER BY j.created_at DESC, j.job_id DESC, n.node_id, r.task_id LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    tasks: page.rows.map(({ place: _place, ...row }) => ({
      ...row,
      started_at: isoOrNull(row.started_at),
      reported_at: iso(row.reported_at),
    })),
    next: page.last && {
      created_at: page.last.place,
      job_id: page.last.job_id,
      node_id: page.last.node_id,
      task_id: page.last.task_id,
    },
  };
}

/**
 * Reads the tasks of some jobs that workers hold now, the oldest first. There are few leased messages,
 * however many wait in the queue. The node of each is searched by its key, which is part of the task's id: a
 * job can have a million nodes. Twice as many leases as tasks are looked at, because a few belong to attempts
 * that have ended.
 */
export async function readCurrentTasks(
  db: Queryable,
  jobIds: readonly string[],
  limit: number,
): Promise<(CurrentTask & { readonly job_id: string })[]> {
  const { rows } = await db.query<
    Omit<CurrentTask, "started_at"> & { job_id: string; started_at: Date }
  >(
    `SELECT l.job_id, n.node_id, l.task_id, l.worker_id, l.started_at,
            l.progress_percent, l.progress_message
     FROM (
       SELECT * FROM dagapp.dag_running_tasks WHERE job_id = ANY ($1)
       ORDER BY started_at, task_id LIMIT 2 * $2) l
     CROSS JOIN LATERAL (
       SELECT node_id FROM dagapp.dag_node_states
       WHERE job_id = l.job_id
         AND node_id = regexp_replace(substr(l.task_id, length(l.job_id) + 2), '_[0-9]+$', '')
         AND task_id = l.task_id AND status = 'dispatched'
       LIMIT 1) n
     ORDER BY l.started_at, n.node_id LIMIT $2`,
    [jobIds, limit],
  );
  return rows.map((row) => ({ ...row, started_at: iso(row.started_at) }));
}

/** The node whose current attempt is this task. A task's id starts with that of its job. */
export async function findTask(
  db: Queryable,
  taskId: string,
): Promise<{ readonly job_id: string; readonly node_id: string } | undefined> {
  const end = taskId.lastIndexOf("_");
  const places = [...taskId.matchAll(/_/g)].filter(({ index }) => index < end);
  const { rows } = await db.query<{ job_id: string; node_id: string }>(
    `SELECT n.job_id, n.node_id FROM unnest($1::text[], $2::text[]) AS k(job_id, node_id)
     CROSS JOIN LATERAL (
       SELECT job_id, node_id FROM dagapp.dag_node_states
       WHERE job_id = k.job_id AND node_id = k.node_id AND task_id = $3
       LIMIT 1) n`,
    [
      places.map(({ index }) => taskId.slice(0, index)),
      places.map(({ index }) => taskId.slice(index + 1, end)),
      taskId,
    ],
  );
  return rows[0];
}
