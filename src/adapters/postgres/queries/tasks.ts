import type { CurrentTask } from "../../../core/api/job-schemas.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut, iso, isoOrNull } from "./conditions.ts";

export interface TaskPlace {
  readonly reported_at: string;
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
  readonly processed: boolean;
}

export type Task = Omit<TaskRow, "started_at" | "reported_at"> & {
  readonly started_at: string | null;
  readonly reported_at: string;
};

/** Results as workers reported them, the newest first. */
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
    .add("job_id = ?", filter.job_id)
    .add("node_id = ?", filter.node_id)
    .add("status = ?", filter.status)
    .add("worker_id = ?", filter.worker_id);
  if (after !== undefined) {
    const at = where.value(after.reported_at);
    const id = where.value(after.task_id);
    where.always(`reported_at <= ${at}::timestamptz`);
    where.always(`(reported_at < ${at}::timestamptz OR task_id > ${id})`);
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<TaskRow & { place: string }>(
    `SELECT task_id, job_id, node_id, status, error, worker_id, started_at, reported_at, processed,
            extract(epoch FROM reported_at - started_at)::float8 AS seconds,
            pg_column_size(output) AS output_bytes, reported_at::text AS place
     FROM dagapp.dag_task_results WHERE ${where.toString()}
     ORDER BY reported_at DESC, task_id LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return {
    tasks: page.rows.map(({ place: _place, ...row }) => ({
      ...row,
      started_at: isoOrNull(row.started_at),
      reported_at: iso(row.reported_at),
    })),
    next: page.last && { reported_at: page.last.place, task_id: page.last.task_id },
  };
}

/** What workers hold now of some jobs. In-flight messages are few, whatever waits behind them. */
export async function readCurrentTasks(
  db: Queryable,
  jobIds: readonly string[],
  limit: number,
): Promise<(CurrentTask & { readonly job_id: string })[]> {
  const { rows } = await db.query<
    Omit<CurrentTask, "started_at"> & { job_id: string; started_at: Date }
  >(
    `SELECT n.job_id, n.node_id, n.task_id, l.holder AS worker_id, l.leased_at AS started_at,
            l.progress_percent, l.progress_message
     FROM dagapp.dag_queue_leases l
     JOIN dagapp.dag_node_states n
       ON n.job_id = l.group_key AND n.task_id = l.message_key AND n.status = 'dispatched'
     WHERE l.group_key = ANY ($1)
     ORDER BY l.leased_at, n.node_id LIMIT $2`,
    [jobIds, limit],
  );
  return rows.map((row) => ({ ...row, started_at: iso(row.started_at) }));
}
