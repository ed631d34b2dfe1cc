/** Moves messages between the ready table and an outside broker. */
import { queueChannelSql } from "../../../postgres/channels.ts";
import type { Database } from "../../../postgres/database.ts";
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import { maxDeliveriesExceeded } from "../../broker.ts";
import type { CarriedMessage } from "../../transport.ts";
import type { FetchOptions, FetchResult } from "./fetch.ts";
import { leasedColumns, suspectsSql, toFetchResult } from "./fetch.ts";
import type { FetchedRow } from "./fetch.ts";
import { messageColumns } from "./message-columns.ts";

const carriedColumns = `message_id, priority, deliveries, released, lost, message_key, group_key,
  headers, body, enqueued_at::text, xmin::text AS sending`;

export interface Unsent {
  readonly messages: readonly CarriedMessage[];
  /** Until the queue's next delayed message is due; null when none waits. */
  readonly dueInMs: number | null;
}

/** Keeps other relays from this queue until the transaction ends; false: one of them is at work. */
export async function lockRelay(tx: Transaction, queue: string): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    "SELECT pg_try_advisory_xact_lock(hashtextextended('dag_relay ' || $1, 0)) AS locked",
    [queue],
    "dag_relay_lock",
  );
  return rows[0]?.locked === true;
}

/** At least one row is answered, because a row carries the time of the next delayed message. */
type UnsentRow = { readonly in_ms: number | null } & (
  CarriedMessage | { readonly message_id: null }
);

/**
 * Reads messages that must be sent. Nothing is locked meanwhile: a tick that withdraws messages must
 * not wait for an outside broker.
 */
export async function readUnsent(tx: Transaction, queue: string, limit: number): Promise<Unsent> {
  const { rows } = await tx.query<UnsentRow>(
    `SELECT due.in_ms, unsent.*
     FROM (
       SELECT ceil(extract(epoch FROM min(visible_at) - now()) * 1000)::float8 AS in_ms
       FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at IS NOT NULL AND suspect IS NULL
     ) AS due LEFT JOIN (
       SELECT ${carriedColumns} FROM dagapp.dag_queue_ready
       WHERE queue = $1 AND visible_at IS NULL ORDER BY priority DESC, message_id LIMIT $2
     ) AS unsent ON true`,
    [queue, limit],
    "dag_relay_read",
  );
  const dueInMs = rows[0]?.in_ms ?? null;
  const messages = rows.filter((row) => row.message_id !== null);
  return { messages, dueInMs };
}

/** Counts the messages that wait to be sent, and how long the oldest has waited. */
export async function readOutbox(
  db: Queryable,
): Promise<{ readonly unsent: number; readonly lag_seconds: number }> {
  const { rows } = await db.query<{ unsent: number; lag_seconds: number }>(
    `SELECT count(*)::integer AS unsent,
       coalesce(extract(epoch FROM now() - min(enqueued_at)), 0)::float8 AS lag_seconds
     FROM dagapp.dag_queue_ready WHERE visible_at IS NULL`,
  );
  return rows[0] ?? { unsent: 0, lag_seconds: 0 };
}

/**
 * Removes messages that the outside broker has stored, with the commit. OFFSET 0 makes PostgreSQL search each
 * by its key: a plan from a time when the table was empty compares every row of it with every message.
 */
export function removeSent(
  tx: Transaction,
  queue: string,
  messages: readonly CarriedMessage[],
): void {
  tx.send(
    `DELETE FROM dagapp.dag_queue_ready WHERE ctid = ANY (ARRAY(
       SELECT found.ctid
       FROM unnest($2::bigint[], $3::integer[], $4::smallint[]) AS sent(id, count, priority)
       CROSS JOIN LATERAL (
         SELECT ctid FROM dagapp.dag_queue_ready
         WHERE queue = $1 AND visible_at IS NULL AND priority = sent.priority
           AND message_id = sent.id AND deliveries = sent.count OFFSET 0) AS found))`,
    [
      queue,
      messages.map(({ message_id }) => message_id),
      messages.map(({ deliveries }) => deliveries),
      messages.map(({ priority }) => priority),
    ],
    "dag_relay_remove",
  );
}

const incomingSql = `
  SELECT * FROM unnest($2::bigint[], $3::smallint[], $4::integer[], $5::integer[], $6::integer[],
    $7::text[], $8::text[], $9::jsonb[], $10::text[], $11::timestamptz[], $12::text[])
    AS t(message_id, priority, deliveries, released, lost, message_key, group_key, headers, body,
         enqueued_at, node_id)`;

/**
 * Leases messages that have arrived. One that is leased already came twice; one whose task has a
 * result, or is no longer its node's current attempt, is not needed any more. Both are left out.
 */
const leaseArrivedSql = `
WITH incoming AS (${incomingSql}),
leased AS (
  INSERT INTO dagapp.dag_queue_leases (${messageColumns}, holder, until)
  SELECT message_id, $1, priority, deliveries + 1, released, lost, message_key, group_key, headers,
    body, enqueued_at, $14, now() + $13 * interval '1 ms'
  FROM incoming AS i
  WHERE node_id IS NULL OR (
    NOT EXISTS (SELECT FROM dagapp.dag_task_results AS r WHERE r.task_id = i.message_key)
    AND (NOT EXISTS (SELECT FROM dagapp.dag_jobs AS j WHERE j.job_id = i.group_key)
      OR EXISTS (SELECT FROM dagapp.dag_node_states AS n
        WHERE n.job_id = i.group_key AND n.node_id = i.node_id AND n.task_id = i.message_key
          AND n.status IN ('dispatched', 'running'))))
  ORDER BY message_id
  ON CONFLICT (message_id) DO NOTHING
  RETURNING ${leasedColumns}
)
SELECT NULL::float8 AS in_ms, suspects.waited_ms, leased.*,
  set_config('synchronous_commit', 'off', true) AS commits
FROM (${suspectsSql("$1", "$15")}) AS suspects LEFT JOIN leased ON true`;

export interface ArrivedLeases {
  readonly fetched: FetchResult;
  /** Resolves when the leases are on disk: until then the outside broker has the only safe copy. */
  readonly flushed: Promise<void>;
}

export async function leaseArrived(
  db: Database,
  queue: string,
  messages: readonly CarriedMessage[],
  options: FetchOptions,
): Promise<ArrivedLeases> {
  const [text, values, name] = leaseStatement(queue, messages, options);
  const { result, flushed } = await db.queryThenFlush<FetchedRow>(text, values, name);
  return { fetched: toFetchResult(result.rows), flushed };
}

/** Answers how long suspects have waited, where no message has arrived. */
export async function leaseNone(
  db: Queryable,
  queue: string,
  options: FetchOptions,
): Promise<FetchResult> {
  const { rows } = await db.query<FetchedRow>(...leaseStatement(queue, [], options));
  return toFetchResult(rows);
}

function leaseStatement(
  queue: string,
  messages: readonly CarriedMessage[],
  { leaseMs, holder, accepts }: FetchOptions,
): [text: string, values: unknown[], name: string] {
  const values = [...columns(queue, messages), leaseMs, holder, accepts ?? null];
  return [leaseArrivedSql, values, "dag_queue_lease_arrived"];
}

/**
 * Returns messages that their consumer does not accept to the ready table; another one may. Counted
 * as taken and released, because a broker that removes duplicates must see another message.
 */
export async function postpone(
  db: Queryable,
  queue: string,
  messages: readonly CarriedMessage[],
  delay: { readonly firstMs: number; readonly longestMs: number },
): Promise<void> {
  await db.query(
    `WITH incoming AS (${incomingSql}),
     returned AS (
       INSERT INTO dagapp.dag_queue_ready (${messageColumns}, visible_at) OVERRIDING SYSTEM VALUE
       SELECT message_id, $1, priority, deliveries + 1, released + 1, lost, message_key, group_key,
         headers, body, enqueued_at,
         now() + least($13 * 2 ^ least(released, 20), $14) * interval '1 ms' FROM incoming
     )
     SELECT pg_notify(${queueChannelSql("$1")}, '')`,
    [...columns(queue, messages), delay.firstMs, delay.longestMs],
    "dag_queue_postpone",
  );
}

/** Lists messages that the outside broker has given up as dead letters; one that came twice once. */
export async function addDeadLetters(
  db: Queryable,
  queue: string,
  messages: readonly CarriedMessage[],
  reason: string,
  detail: string,
): Promise<void> {
  await db.query(
    `WITH incoming AS (${incomingSql})
     INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
     SELECT message_id, $1, priority, deliveries + 1, released, lost, message_key, group_key, headers,
       body, enqueued_at, $13, $14 FROM incoming
     ON CONFLICT (message_id) DO NOTHING`,
    [...columns(queue, messages), reason, detail],
  );
}

/**
 * Returns messages that were given back more often than the outside broker allows, each time by a
 * consumer without a free slot or by one of another program. All that counts as one delivery.
 */
export async function returnWornOut(
  db: Queryable,
  queue: string,
  messages: readonly CarriedMessage[],
): Promise<void> {
  await db.query(
    `WITH incoming AS (${incomingSql}),
     classified AS (
       SELECT incoming.*, deliveries + 1 - released >= max_deliveries AS exhausted
       FROM incoming JOIN dagapp.dag_queues AS spec ON spec.queue = $1
     ),
     returned AS (
       INSERT INTO dagapp.dag_queue_ready (${messageColumns}) OVERRIDING SYSTEM VALUE
       SELECT message_id, $1, priority, deliveries + 1, released, lost, message_key, group_key,
         headers, body, enqueued_at FROM classified WHERE NOT exhausted
     ),
     dead AS (
       INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
       SELECT message_id, $1, priority, deliveries + 1, released, lost, message_key, group_key,
         headers, body, enqueued_at, '${maxDeliveriesExceeded}', 'Consumers returned it every time.'
       FROM classified WHERE exhausted
       ON CONFLICT (message_id) DO NOTHING
     )
     SELECT pg_notify(${queueChannelSql("$1")}, '')`,
    columns(queue, messages),
  );
}

/** Lists a message that no row names: it gets an id of its own. */
export async function addForeignDeadLetter(
  db: Queryable,
  queue: string,
  dead: { key: string; body: string; reason: string; detail: string },
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.dag_queue_dead
       (message_id, queue, priority, deliveries, released, message_key, body, enqueued_at, reason, detail)
     VALUES (nextval(pg_get_serial_sequence('dagapp.dag_queue_ready', 'message_id')),
       $1, 0, 1, 0, $2, $3, now(), $4, $5)`,
    [queue, dead.key, dead.body, dead.reason, dead.detail],
  );
}

function columns(queue: string, messages: readonly CarriedMessage[]): unknown[] {
  return [
    queue,
    messages.map(({ message_id }) => message_id),
    messages.map(({ priority }) => priority),
    messages.map(({ deliveries }) => deliveries),
    messages.map(({ released }) => released),
    messages.map(({ lost }) => lost),
    messages.map(({ message_key }) => message_key),
    messages.map(({ group_key }) => group_key),
    messages.map(({ headers }) => (headers === null ? null : JSON.stringify(headers))),
    messages.map(({ body }) => body),
    messages.map(({ enqueued_at }) => enqueued_at),
    messages.map(nodeOf),
  ];
}

/** The node of a task's message; null: the message is no task. */
function nodeOf({ group_key, body }: CarriedMessage): string | null {
  if (group_key === null) return null;
  try {
    const { job_id, node_id } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return job_id === group_key && typeof node_id === "string" ? node_id : null;
  } catch {
    return null;
  }
}
