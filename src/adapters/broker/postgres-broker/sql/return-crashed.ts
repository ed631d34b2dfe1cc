import { queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { LeasedMessage } from "./message-columns.ts";
import { messageColumns } from "./message-columns.ts";

/** The message that a dead consumer ran alone, and its queue. */
export interface CrashedMessage extends LeasedMessage {
  readonly queue: string;
}

/**
 * Returns the messages of a consumer that has died, as suspects. A message that it ran alone is the
 * reason, so it stays leased for the caller, who reports it; the messages that were suspects with it
 * are none any more.
 */
const returnCrashedSql = `
WITH held AS MATERIALIZED (
  SELECT message_id, suspect FROM dagapp.dag_queue_leases
  WHERE holder = $1 AND NOT cancelled ORDER BY message_id FOR UPDATE
),
removed AS (
  DELETE FROM dagapp.dag_queue_leases
  WHERE message_id = ANY (ARRAY(SELECT message_id FROM held WHERE suspect IS NULL))
  RETURNING ${messageColumns}
),
returned AS (
  INSERT INTO dagapp.dag_queue_ready (${messageColumns}, suspect, visible_at)
    OVERRIDING SYSTEM VALUE
  SELECT message_id, queue, priority, deliveries, released + 1, lost + 1, message_key, group_key,
    headers, body, enqueued_at, $1, now()
  FROM removed
),
acquitted AS (
  UPDATE dagapp.dag_queue_ready SET suspect = NULL, visible_at = NULL
  WHERE suspect IS NOT NULL AND suspect = ANY (ARRAY(SELECT suspect FROM held))
  RETURNING queue
),
woken AS MATERIALIZED (
  SELECT pg_notify(${queueChannelSql("queue")}, '')
  FROM (SELECT queue FROM removed UNION SELECT queue FROM acquitted) AS queues
)
SELECT queue, message_id, priority, deliveries, released, lost, message_key, headers, body,
  leased_at::text, (SELECT count(*) FROM woken)
FROM dagapp.dag_queue_leases
WHERE message_id = ANY (ARRAY(SELECT message_id FROM held WHERE suspect IS NOT NULL))`;

/** Answers the messages that the consumer ran alone; they stay leased. */
export async function returnCrashed(
  db: Queryable,
  holder: string,
): Promise<readonly CrashedMessage[]> {
  const { rows } = await db.query<CrashedMessage>(returnCrashedSql, [holder]);
  return rows;
}
