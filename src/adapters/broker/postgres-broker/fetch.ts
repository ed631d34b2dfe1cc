import type { HandedMessage } from "../../../core/link.ts";
import type { Queryable } from "../../postgres/queryable.ts";
import { messageColumns } from "./columns.ts";

export interface Fetched extends HandedMessage {
  /** By whom it was handed over, when it was. */
  readonly via?: object;
}

export interface FetchResult {
  readonly messages: readonly Fetched[];
  /** Until the queue's next delayed message is due; null when none waits. */
  readonly dueInMs: number | null;
}

/**
 * Takes and leases in one statement. A row that is locked stays where it is, so its place names it.
 * It also says when the next delayed message is due, so that a
 * consumer that goes to sleep knows for how long without asking again.
 */
const fetchText = `
WITH candidate AS MATERIALIZED (
  SELECT ctid FROM dagapp.dag_queue_ready
  WHERE queue = $1 AND visible_at IS NULL
  ORDER BY priority DESC, message_id LIMIT $2 FOR UPDATE SKIP LOCKED
),
taken AS (
  DELETE FROM dagapp.dag_queue_ready
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM candidate))
  RETURNING ${messageColumns}
),
leased AS (
  INSERT INTO dagapp.dag_queue_leases (${messageColumns}, holder, until)
  SELECT message_id, queue, priority, deliveries + 1, handed_back, message_key, group_key, headers,
    body, enqueued_at, $4, now() + $3 * interval '1 ms'
  FROM taken
  RETURNING message_id, priority, deliveries, handed_back, message_key, headers, body,
    leased_at::text
)
SELECT due.in_ms, leased.*
FROM (
  SELECT ceil(extract(epoch FROM min(visible_at) - now()) * 1000)::float8 AS in_ms
  FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at IS NOT NULL
) AS due LEFT JOIN leased ON true`;

/** Without a message there is still one row, for the time of the next delayed one. */
type FetchedRow = { readonly in_ms: number | null } & (Fetched | { readonly message_id: null });

export async function fetchMessages(
  db: Queryable,
  queue: string,
  limit: number,
  leaseMs: number,
  holder: string,
): Promise<FetchResult> {
  const { rows } = await db.query<FetchedRow>(
    fetchText,
    [queue, limit, leaseMs, holder],
    "dag_queue_fetch",
  );
  const messages = rows
    .filter((row) => row.message_id !== null)
    // A statement promises no order of what it returns.
    .sort((a, b) => b.priority - a.priority || a.message_id - b.message_id);
  return { messages, dueInMs: rows[0]?.in_ms ?? null };
}
