import type { Queryable } from "../../../postgres/queryable.ts";
import type { LeaseToken } from "./message-columns.ts";
import { searchByKey } from "../../../postgres/search-by-key.ts";

export interface Progress {
  readonly lease: LeaseToken;
  readonly percent: number;
  readonly message: string | null;
}

/** Writes progress to the leases, with which it is deleted when the message is settled. */
export async function writeProgress(db: Queryable, progress: readonly Progress[]): Promise<void> {
  const ordered = [...progress].sort((a, b) => a.lease.message_id - b.lease.message_id);
  await db.query(
    `UPDATE dagapp.dag_queue_leases AS lease
     SET progress_percent = held.percent, progress_message = held.message
     FROM unnest($1::bigint[], $2::integer[], $3::real[], $4::text[])
       AS held(id, count, percent, message)
     WHERE ${searchByKey("lease.message_id", "held.id")} AND lease.deliveries = held.count`,
    [
      ordered.map(({ lease }) => lease.message_id),
      ordered.map(({ lease }) => lease.deliveries),
      ordered.map(({ percent }) => rounded(percent)),
      ordered.map(({ message }) => message),
    ],
    "dag_record_progress",
  );
}

/** Writes progress by the id of the message, for workers that report over HTTP; false: not leased. */
export async function writeProgressOf(
  db: Queryable,
  id: string,
  percent: number,
  message: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE dagapp.dag_queue_leases SET progress_percent = $2, progress_message = $3
     WHERE message_key = $1`,
    [id, rounded(percent), message],
  );
  return (rowCount ?? 0) > 0;
}

/** The column has single precision, and the database refuses a number that is too small for it. */
function rounded(percent: number): number {
  return Math.round(percent * 100) / 100;
}

/** Locks the lease for the rest of the transaction; false: this consumer no longer holds it. */
export async function holdLease(
  db: Queryable,
  { message_id, deliveries }: LeaseToken,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM dagapp.dag_queue_leases WHERE message_id = $1 AND deliveries = $2 FOR SHARE`,
    [message_id, deliveries],
  );
  return (rowCount ?? 0) > 0;
}
