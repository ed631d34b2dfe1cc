import { queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable, Transaction } from "../../../postgres/queryable.ts";
import { textArray } from "../../../postgres/text-array.ts";
import type { OutMessage } from "../../broker.ts";

/**
 * Inserts all messages of a call with one statement and one notification. ON CONFLICT DO UPDATE may
 * not change a row twice, so where the queue removes duplicates only the first message of a key
 * (`is_first`) takes part.
 *
 * A value that all messages share is sent once ($10 to $14), with an empty array in its place: most messages
 * of a fan-out differ in key and body alone.
 *
 * A queue must be declared ($9 false), or its consumers would not know how long they may hold a
 * message. Within a transaction ($9 true) it need not be: a job whose queue is gone from the
 * configuration must not keep the transaction of a thousand others from committing.
 */
const insertMessagesSql = `
WITH spec AS (
  SELECT dedupe_ms FROM dagapp.dag_queues WHERE queue = $1
  UNION ALL SELECT 0 WHERE NOT EXISTS (SELECT FROM dagapp.dag_queues WHERE queue = $1) AND $9
),
incoming AS (
  SELECT key, coalesce(priority, $10::smallint) AS priority, coalesce(delay_ms, $11::bigint) AS delay_ms,
    coalesce(group_key, $12::text) AS group_key, coalesce(headers::jsonb, $13::jsonb) AS headers, body,
    coalesce(is_first, $14::boolean) AS is_first, ordinal
  FROM unnest($2::text[], $3::smallint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::boolean[])
    WITH ORDINALITY AS t(key, priority, delay_ms, group_key, headers, body, is_first, ordinal)
),
fresh AS (
  INSERT INTO dagapp.dag_queue_seen AS seen (queue, message_key, until)
  SELECT $1, key, now() + dedupe_ms * interval '1 ms'
  FROM incoming CROSS JOIN spec WHERE dedupe_ms > 0 AND is_first
  ON CONFLICT (queue, message_key) DO UPDATE SET until = excluded.until WHERE seen.until < now()
  RETURNING message_key
),
added AS (
  INSERT INTO dagapp.dag_queue_ready
    (queue, priority, visible_at, message_key, group_key, headers, body)
  SELECT $1, priority, CASE WHEN delay_ms > 0 THEN now() + delay_ms * interval '1 ms' END,
    key, group_key, headers, body
  FROM incoming CROSS JOIN spec
  WHERE dedupe_ms = 0 OR (is_first AND key IN (SELECT message_key FROM fresh))
  ORDER BY ordinal
)
SELECT pg_notify(${queueChannelSql("$1")}, '') FROM spec`;

/** Messages that must run alone wait as suspects; duplicates are not removed. */
const insertSuspectsSql = `
WITH added AS (
  INSERT INTO dagapp.dag_queue_ready
    (queue, priority, visible_at, suspect, message_key, group_key, headers, body)
  SELECT $1, priority, now() + delay_ms * interval '1 ms', key, key, group_key, headers::jsonb, body
  FROM unnest($2::text[], $3::smallint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
    AS t(key, priority, delay_ms, group_key, headers, body)
)
SELECT pg_notify(${queueChannelSql("$1")}, '')`;

/** Within a transaction the statement is sent with the commit, which rejects if it fails. */
export async function publish(
  db: Queryable | Transaction,
  queue: string,
  messages: readonly OutMessage[],
): Promise<void> {
  const alone = messages.filter((message) => message.alone === true);
  if (alone.length > 0) {
    await db.query(insertSuspectsSql, columns(queue, alone).slice(0, 7));
    messages = messages.filter((message) => message.alone !== true);
  }
  if (messages.length === 0) return;
  const { arrays, shared } = splitShared(columns(queue, messages));
  if ("send" in db) {
    db.send(insertMessagesSql, [...arrays, true, ...shared], "dag_queue_publish");
    return;
  }
  const values = [...arrays, false, ...shared];
  const { rowCount } = await db.query(insertMessagesSql, values, "dag_queue_publish");
  if (rowCount === 0) {
    throw new Error(`Queue "${queue}" is not declared: call ensureQueue before publishing to it.`);
  }
}

/** The headers as JSON; neighbours that share one object share its text. */
export function headersColumn(messages: readonly OutMessage[]): (string | null)[] {
  let last: { readonly headers: OutMessage["headers"]; readonly text: string | null } | undefined;
  return messages.map(({ headers }) => {
    if (last?.headers !== headers || last === undefined) {
      last = { headers, text: headers === undefined ? null : JSON.stringify(headers) };
    }
    return last.text;
  });
}

type Columns = readonly [queue: string, keys: string[], ...others: (unknown[] | Buffer)[]];

/** The columns of priority, delay, group, headers and `is_first`: most often all messages share one value. */
const mayBeShared = [2, 3, 4, 5, 7];

function splitShared(columns: Columns): { arrays: readonly unknown[]; shared: unknown[] } {
  const arrays: unknown[] = [...columns];
  const shared = mayBeShared.map((place) => {
    const values = arrays[place] as readonly unknown[];
    const [first = null] = values;
    if (values.some((value) => value !== first)) return null;
    arrays[place] = [];
    return first;
  });
  return { arrays, shared };
}

function columns(queue: string, messages: readonly OutMessage[]): Columns {
  const seen = new Set<string>();
  return [
    queue,
    messages.map(({ id }) => id),
    messages.map(({ priority = 0 }) => priority),
    messages.map(({ delayMs = 0 }) => Math.ceil(delayMs)),
    messages.map(({ group = null }) => group),
    headersColumn(messages),
    textArray(messages.map(({ body }) => body)),
    messages.map(({ id }) => seen.size < seen.add(id).size),
  ];
}
