import { engineChannel, queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import { maxDeliveriesExceeded, messageColumns } from "./message-columns.ts";

/** Any process may run this at any time: SKIP LOCKED omits rows that another process returns. */
const returnExpiredSql = `
WITH expired AS MATERIALIZED (
  SELECT message_id FROM dagapp.dag_queue_leases WHERE until < now()
  ORDER BY until LIMIT 1000 FOR UPDATE SKIP LOCKED
),
removed AS (
  DELETE FROM dagapp.dag_queue_leases
  WHERE message_id = ANY (ARRAY(SELECT message_id FROM expired))
  RETURNING ${messageColumns}, cancelled, holder
),
classified AS (
  SELECT removed.*, deliveries - released >= max_deliveries AS exhausted
  FROM removed JOIN dagapp.dag_queues USING (queue) WHERE NOT cancelled
),
returned AS (
  INSERT INTO dagapp.dag_queue_ready (${messageColumns}) OVERRIDING SYSTEM VALUE
  SELECT ${messageColumns} FROM classified WHERE NOT exhausted
),
dead AS (
  INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
  SELECT ${messageColumns}, '${maxDeliveriesExceeded}',
    'Delivered ' || deliveries - released || ' times; its last holder, ' || holder
      || ', stopped renewing the lease.'
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
  SELECT ctid FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at <= now()
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
