/** Finds messages whose task must fail: held too long, dead, or gone. */
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import type { NewDeadLetter, OverdueMessage } from "../../broker.ts";

/** Answers the ids that are in no table: neither ready, nor leased, nor dead. */
export async function findMissing(
  db: Queryable,
  messages: readonly { readonly id: string; readonly group: string }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM unnest($1::text[], $2::text[]) AS asked(id, grp)
     WHERE NOT EXISTS (SELECT FROM dagapp.dag_queue_ready WHERE group_key = grp AND message_key = id)
       AND NOT EXISTS (SELECT FROM dagapp.dag_queue_leases WHERE group_key = grp AND message_key = id)
       AND NOT EXISTS (SELECT FROM dagapp.dag_queue_dead WHERE message_key = id)`,
    [messages.map(({ id }) => id), messages.map(({ group }) => group)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Deletes the leases of messages that ran longer than their timeout and the grace. */
export async function takeOverdue(
  tx: Transaction,
  graceSeconds: number,
): Promise<readonly OverdueMessage[]> {
  const { rows } = await tx.query<OverdueMessage>(
    `DELETE FROM dagapp.dag_queue_leases
     WHERE message_id IN (
       SELECT message_id FROM dagapp.dag_queue_leases
       WHERE headers ? 'timeout_seconds' AND group_key IS NOT NULL AND leased_at
           + ((headers ->> 'timeout_seconds')::float8 + $1) * interval '1 second' < now()
       FOR UPDATE SKIP LOCKED)
     RETURNING message_key AS id, group_key AS "group", holder, leased_at::text AS started_at,
       (headers ->> 'timeout_seconds')::float8 AS timeout_seconds`,
    [graceSeconds],
  );
  return rows;
}

/** Marks unhandled dead letters as handled and answers those that belong to a job. */
export async function takeNewDeadLetters(
  tx: Transaction,
  limit: number,
): Promise<readonly NewDeadLetter[]> {
  type Row = NewDeadLetter | { readonly group: null };
  const { rows } = await tx.query<Row>(
    `UPDATE dagapp.dag_queue_dead SET handled = true
     WHERE message_id IN (
       SELECT message_id FROM dagapp.dag_queue_dead
       WHERE NOT handled ORDER BY message_id LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING message_key AS id, group_key AS "group", reason, detail, deliveries`,
    [limit],
  );
  return rows.filter((row) => row.group !== null);
}
