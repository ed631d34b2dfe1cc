import { engineChannel, queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import { maxDeliveriesExceeded } from "../../broker.ts";
import { messageColumns } from "./message-columns.ts";

/**
 * Returns messages of expired leases. A process that dies takes all of its messages along, so the loss
 * counts only against a message that ran alone: after `max_deliveries` of those it is a dead letter. A
 * message that was lost twice beside others becomes a suspect, which runs alone; the first time may
 * have been an outage of the network or the database. When the message that ran alone is lost, the others
 * that were lost with it are no suspects any more.
 *
 * Any process may run this at any time: SKIP LOCKED omits rows that another process returns.
 */
const returnExpiredSql = `
WITH expired AS MATERIALIZED (
  SELECT message_id FROM dagapp.dag_queue_leases WHERE until < now()
  ORDER BY until LIMIT 1000 FOR UPDATE SKIP LOCKED
),
removed AS (
  DELETE FROM dagapp.dag_queue_leases
  WHERE message_id = ANY (ARRAY(SELECT message_id FROM expired))
  RETURNING ${messageColumns}, cancelled, holder, suspect
),
classified AS (
  SELECT removed.*, suspect IS NOT NULL AND deliveries - released >= max_deliveries AS exhausted
  FROM removed JOIN dagapp.dag_queues USING (queue) WHERE NOT cancelled
),
returned AS (
  INSERT INTO dagapp.dag_queue_ready (${messageColumns}, suspect, visible_at)
    OVERRIDING SYSTEM VALUE
  SELECT message_id, queue, priority, deliveries,
    CASE WHEN suspect IS NULL THEN released + 1 ELSE released END,
    CASE WHEN suspect IS NULL THEN lost + 1 ELSE lost END,
    message_key, group_key, headers, body, enqueued_at,
    CASE WHEN lost > 0 THEN coalesce(suspect, holder) ELSE suspect END,
    CASE WHEN lost > 0 OR suspect IS NOT NULL THEN now() END
  FROM classified WHERE NOT exhausted
),
acquitted AS (
  UPDATE dagapp.dag_queue_ready SET suspect = NULL, visible_at = NULL
  WHERE suspect IS NOT NULL AND suspect = ANY (ARRAY(SELECT suspect FROM classified))
),
dead AS (
  INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
  SELECT ${messageColumns}, '${maxDeliveriesExceeded}',
    deliveries - released || ' workers stopped renewing its lease while they ran nothing else, at '
      || 'last ' || holder || '.'
  FROM classified WHERE exhausted
),
woken AS MATERIALIZED (
  SELECT pg_notify(channel, '') FROM (
    SELECT DISTINCT
      CASE WHEN exhausted THEN '${engineChannel}' ELSE ${queueChannelSql("queue")} END AS channel
    FROM classified) AS wakes
)
SELECT count(*)::integer AS returned_count, (SELECT count(*) FROM woken) FROM removed`;

const makeDueReadySql = `
WITH due AS MATERIALIZED (
  SELECT ctid FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at <= now() AND suspect IS NULL
  ORDER BY visible_at LIMIT 1000 FOR UPDATE SKIP LOCKED
)
UPDATE dagapp.dag_queue_ready SET visible_at = NULL
WHERE ctid = ANY (ARRAY(SELECT ctid FROM due))`;

/** Returns messages of expired leases to their queue or the dead letters; answers how many. */
export async function returnExpired(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ returned_count: number }>(
    returnExpiredSql,
    [],
    "dag_queue_return_expired",
  );
  return rows[0]?.returned_count ?? 0;
}

/** Makes delayed messages ready when their time has come. */
export async function makeDueReady(db: Queryable, queue: string): Promise<void> {
  await db.query(makeDueReadySql, [queue], "dag_queue_show_due");
}
