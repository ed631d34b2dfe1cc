import type { Queryable } from "../../../postgres/queryable.ts";
import type { LeasedMessage } from "./message-columns.ts";
import { messageColumns } from "./message-columns.ts";

export interface FetchResult {
  readonly messages: readonly LeasedMessage[];
  /** Until the queue's next delayed message is due; null when none waits. */
  readonly dueInMs: number | null;
}

/**
 * Moves messages from the ready table to the leases in one statement. The rows are locked, so their
 * ctid cannot change. The answer also says when the next delayed message is due, so that an idle
 * consumer knows how long to sleep.
 */
const leaseMessagesSql = `
WITH locked AS MATERIALIZED (
  SELECT ctid FROM dagapp.dag_queue_ready
  WHERE queue = $1 AND visible_at IS NULL
  ORDER BY priority DESC, message_id LIMIT $2 FOR UPDATE SKIP LOCKED
),
taken AS (
  DELETE FROM dagapp.dag_queue_ready
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM locked))
  RETURNING ${messageColumns}
),
leased AS (
  INSERT INTO dagapp.dag_queue_leases (${messageColumns}, holder, until)
  SELECT message_id, queue, priority, deliveries + 1, released, message_key, group_key, headers,
    body, enqueued_at, $4, now() + $3 * interval '1 ms'
  FROM taken
  RETURNING message_id, priority, deliveries, released, message_key, headers, body,
    leased_at::text
)
SELECT due.in_ms, leased.*
FROM (
  SELECT ceil(extract(epoch FROM min(visible_at) - now()) * 1000)::float8 AS in_ms
  FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at IS NOT NULL
) AS due LEFT JOIN leased ON true`;

/** At least one row is answered, because a row carries the time of the next delayed message. */
type FetchedRow = { readonly in_ms: number | null } & (
  LeasedMessage | { readonly message_id: null }
);

export async function fetchMessages(
  db: Queryable,
  queue: string,
  limit: number,
  leaseMs: number,
  holder: string,
): Promise<FetchResult> {
  const { rows } = await db.query<FetchedRow>(
    leaseMessagesSql,
    [queue, limit, leaseMs, holder],
    "dag_queue_fetch",
  );
  const messages = rows
    .filter((row) => row.message_id !== null)
    // RETURNING promises no order.
    .sort((a, b) => b.priority - a.priority || a.message_id - b.message_id);
  return { messages, dueInMs: rows[0]?.in_ms ?? null };
}

/**
 * Reads the messages that are leased to this consumer and that it never received, because the push
 * server that leased them is gone.
 */
export async function fetchUnreceived(
  db: Queryable,
  queue: string,
  holder: string,
  received: readonly number[],
): Promise<readonly LeasedMessage[]> {
  const { rows } = await db.query<LeasedMessage>(
    `SELECT message_id, priority, deliveries, released, message_key, headers, body,
       leased_at::text
     FROM dagapp.dag_queue_leases
     WHERE holder = $1 AND queue = $2 AND NOT cancelled AND NOT message_id = ANY ($3::bigint[])
     ORDER BY priority DESC, message_id`,
    [holder, queue, received],
  );
  return rows;
}
