import type { LeaseToken } from "../../broker/broker.ts";
import type { Queryable } from "../queryable.ts";

export interface ProgressRow {
  readonly lease: LeaseToken;
  readonly percent: number;
  readonly message: string | null;
}

/** Kept with the lease, where it disappears with it; a result is what remains of an attempt. */
export async function recordProgress(
  db: Queryable,
  progress: readonly ProgressRow[],
): Promise<void> {
  const ordered = [...progress].sort((a, b) => a.lease.message_id - b.lease.message_id);
  await db.query(
    `UPDATE dagapp.dag_queue_leases AS lease
     SET progress_percent = held.percent, progress_message = held.message
     FROM unnest($1::bigint[], $2::integer[], $3::real[], $4::text[])
       AS held(id, count, percent, message)
     WHERE lease.message_id = held.id AND lease.deliveries = held.count`,
    [
      ordered.map(({ lease }) => lease.message_id),
      ordered.map(({ lease }) => lease.deliveries),
      ordered.map(({ percent }) => percent),
      ordered.map(({ message }) => message),
    ],
    "dag_record_progress",
  );
}

/** The same by task, for workers that report over HTTP; false when nobody holds the task. */
export async function recordProgressOfTask(
  db: Queryable,
  taskId: string,
  percent: number,
  message: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE dagapp.dag_queue_leases SET progress_percent = $2, progress_message = $3
     WHERE message_key = $1`,
    [taskId, percent, message],
  );
  return (rowCount ?? 0) > 0;
}
