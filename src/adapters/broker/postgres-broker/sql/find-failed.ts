/** Finds messages whose task must fail: held too long, dead, or gone. */
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import type { NewDeadLetter, OverdueMessage } from "../../broker.ts";

/**
 * Answers the ids that are in no table: neither ready, nor leased, nor dead. By EXCEPT, which reads each table once:
 * as a join, it may read all messages of a group for each id.
 */
export async function findMissing(
  db: Queryable,
  messages: readonly { readonly id: string; readonly group: string }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM (
       SELECT id, grp FROM unnest($1::text[], $2::text[]) AS asked(id, grp)
       EXCEPT SELECT message_key, group_key FROM dagapp.dag_queue_ready WHERE group_key = ANY ($3)
       EXCEPT SELECT message_key, group_key FROM dagapp.dag_queue_leases WHERE group_key = ANY ($3)
     ) AS asked
     EXCEPT SELECT message_key FROM dagapp.dag_queue_dead`,
    [
      messages.map(({ id }) => id),
      messages.map(({ group }) => group),
      [...new Set(messages.map(({ group }) => group))],
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Of messages of tasks, those that were dispatched longer ago than their task may take, with their
 * queue. Before that time a consumer of another program may run the task.
 */
export async function keepOverdue(
  db: Queryable,
  messages: readonly { readonly id: string; readonly group: string }[],
): Promise<readonly { readonly id: string; readonly queue: string }[]> {
  const { rows } = await db.query<{ id: string; queue: string }>(
    `SELECT asked.id, n.queue FROM unnest($1::text[], $2::text[]) AS asked(id, grp)
     JOIN dagapp.dag_node_states n ON n.job_id = asked.grp AND n.task_id = asked.id
     WHERE n.queue IS NOT NULL
       AND n.dispatched_at + coalesce(n.timeout_seconds, 0) * interval '1 second' < now()`,
    [messages.map(({ id }) => id), messages.map(({ group }) => group)],
  );
  return rows;
}

/**
 * Deletes the leases of messages that ran longer than their timeout and the grace. They are found first,
 * by ARRAY: as a join, the search for them ran once for each lease, for minutes behind a wide fan-out.
 */
export async function takeOverdue(
  tx: Transaction,
  graceSeconds: number,
): Promise<readonly OverdueMessage[]> {
  const { rows } = await tx.query<OverdueMessage>(
    `DELETE FROM dagapp.dag_queue_leases
     WHERE message_id = ANY (ARRAY(
       SELECT message_id FROM dagapp.dag_queue_leases
       WHERE headers ? 'timeout_seconds' AND group_key IS NOT NULL AND leased_at
           + ((headers ->> 'timeout_seconds')::float8 + $1) * interval '1 second' < now()
       FOR UPDATE SKIP LOCKED))
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
     WHERE message_id = ANY (ARRAY(
       SELECT message_id FROM dagapp.dag_queue_dead
       WHERE NOT handled ORDER BY message_id LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING message_key AS id, group_key AS "group", reason, detail, deliveries`,
    [limit],
  );
  return rows.filter((row) => row.group !== null);
}
