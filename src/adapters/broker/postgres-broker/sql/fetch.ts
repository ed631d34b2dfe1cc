import type { Queryable } from "../../../postgres/queryable.ts";
import { handlerHeader } from "../../broker.ts";
import type { LeasedMessage } from "./message-columns.ts";
import { messageColumns } from "./message-columns.ts";

export interface FetchResult {
  readonly messages: readonly LeasedMessage[];
  /** Until the queue's next delayed message is due; null when none waits. */
  readonly dueInMs: number | null;
  /** How long the queue's oldest suspect has waited; null when there is none. */
  readonly suspectMs: number | null;
}

export interface FetchOptions {
  readonly leaseMs: number;
  readonly holder: string;
  /** The handlers whose messages are fetched; undefined: all. */
  readonly accepts: readonly string[] | undefined;
}

/** A place in the order of a queue. */
export type QueueMark = Pick<LeasedMessage, "priority" | "message_id">;

/** Every message is behind it: the priority is the highest that the column holds. */
export const frontOfQueue: QueueMark = { priority: 32_767, message_id: 0 };

/** A message without the header is for any consumer; without a list a consumer accepts all. */
const isAccepted = (list: string) =>
  `coalesce(headers ->> '${handlerHeader}' = ANY (${list}::text[]), true)`;

export const leasedColumns = `message_id, priority, deliveries, released, lost, message_key, headers, body,
    leased_at::text`;

/** How long the oldest suspect of a queue has waited; the arguments name the parameters. */
export const suspectsSql = (queue: string, accepts: string) => `
  SELECT (extract(epoch FROM now() - min(visible_at)) * 1000)::float8 AS waited_ms
  FROM dagapp.dag_queue_ready
  WHERE queue = ${queue} AND suspect IS NOT NULL AND visible_at <= now() AND ${isAccepted(accepts)}`;

const lockReady = (condition: string) => `
  SELECT ctid FROM dagapp.dag_queue_ready
  WHERE queue = $1 AND visible_at IS NULL AND ${condition}
    AND ${isAccepted("$5")}
  ORDER BY priority DESC, message_id LIMIT $2 FOR UPDATE SKIP LOCKED`;

/**
 * Moves messages from the ready table to the leases in one statement. The rows are locked, so their
 * ctid cannot change. The answer also says when the next delayed message is due, so that an idle
 * consumer knows how long to sleep.
 *
 * Of the priority of the mark ($6) only messages behind it ($7) are taken. The three parts are three searches
 * of the same index, in the order of the queue, and the next one is begun only when the last was not enough.
 */
const leaseMessagesSql = `
WITH more_urgent AS (${lockReady("priority > $6::smallint")}),
as_urgent AS (${lockReady("priority = $6::smallint AND message_id > $7::bigint")}),
less_urgent AS (${lockReady("priority < $6::smallint")}),
locked AS MATERIALIZED (
  SELECT ctid FROM more_urgent UNION ALL SELECT ctid FROM as_urgent UNION ALL SELECT ctid FROM less_urgent
  LIMIT $2
),
taken AS (
  DELETE FROM dagapp.dag_queue_ready
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM locked))
  RETURNING ${messageColumns}
),
leased AS (
  INSERT INTO dagapp.dag_queue_leases (${messageColumns}, holder, until)
  SELECT message_id, queue, priority, deliveries + 1, released, lost, message_key, group_key, headers,
    body, enqueued_at, $4, now() + $3 * interval '1 ms'
  FROM taken
  RETURNING ${leasedColumns}
)
SELECT due.in_ms, suspects.waited_ms, leased.*
FROM (
  SELECT ceil(extract(epoch FROM min(visible_at) - now()) * 1000)::float8 AS in_ms
  FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at IS NOT NULL AND suspect IS NULL
) AS due CROSS JOIN (${suspectsSql("$1", "$5")}) AS suspects LEFT JOIN leased ON true`;

/** Leases the suspect that has waited longest; its lease keeps the mark. */
const leaseSuspectSql = `
WITH locked AS MATERIALIZED (
  SELECT ctid FROM dagapp.dag_queue_ready
  WHERE queue = $1 AND suspect IS NOT NULL AND visible_at <= now() AND ${isAccepted("$4")}
  ORDER BY visible_at LIMIT 1 FOR UPDATE SKIP LOCKED
),
taken AS (
  DELETE FROM dagapp.dag_queue_ready
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM locked))
  RETURNING ${messageColumns}, suspect
)
INSERT INTO dagapp.dag_queue_leases (${messageColumns}, suspect, holder, until)
SELECT message_id, queue, priority, deliveries + 1, released, lost, message_key, group_key, headers,
  body, enqueued_at, suspect, $3, now() + $2 * interval '1 ms'
FROM taken
RETURNING ${leasedColumns}`;

/** At least one row is answered, because a row carries the time of the next delayed message. */
export type FetchedRow = { readonly in_ms: number | null; readonly waited_ms: number | null } & (
  LeasedMessage | { readonly message_id: null }
);

export async function fetchMessages(
  db: Queryable,
  queue: string,
  limit: number,
  { leaseMs, holder, accepts, from }: FetchOptions & { readonly from: QueueMark },
): Promise<FetchResult> {
  const { rows } = await db.query<FetchedRow>(
    leaseMessagesSql,
    [queue, limit, leaseMs, holder, accepts ?? null, from.priority, from.message_id],
    "dag_queue_fetch",
  );
  return toFetchResult(rows);
}

export function toFetchResult(rows: readonly FetchedRow[]): FetchResult {
  const messages = rows
    .filter((row) => row.message_id !== null)
    // RETURNING promises no order.
    .sort((a, b) => b.priority - a.priority || a.message_id - b.message_id);
  const { in_ms = null, waited_ms = null } = rows[0] ?? {};
  return { messages, dueInMs: in_ms, suspectMs: waited_ms };
}

/** Leases a suspect, for a consumer that runs nothing else meanwhile. */
export async function fetchSuspect(
  db: Queryable,
  queue: string,
  { leaseMs, holder, accepts }: FetchOptions,
): Promise<LeasedMessage | undefined> {
  const { rows } = await db.query<LeasedMessage>(
    leaseSuspectSql,
    [queue, leaseMs, holder, accepts ?? null],
    "dag_queue_fetch_suspect",
  );
  return rows[0];
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
    `SELECT ${leasedColumns}
     FROM dagapp.dag_queue_leases
     WHERE holder = $1 AND queue = $2 AND NOT cancelled AND NOT message_id = ANY ($3::bigint[])
     ORDER BY priority DESC, message_id`,
    [holder, queue, received],
  );
  return rows;
}
