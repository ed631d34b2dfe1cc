import { engineChannel, queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import { maxDeliveriesExceeded, messageColumns } from "./message-columns.ts";

/** Any process may sweep at any time: SKIP LOCKED leaves what another process sweeps. */
const returnExpiredText = `
WITH expired AS MATERIALIZED (
  SELECT message_id FROM dagapp.dag_queue_leases WHERE until < now()
  ORDER BY until LIMIT 1000 FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM dagapp.dag_queue_leases
  WHERE message_id = ANY (ARRAY(SELECT message_id FROM expired))
  RETURNING ${messageColumns}, cancelled, holder
),
judged AS (
  SELECT gone.*, deliveries - released >= max_deliveries AS exhausted
  FROM gone JOIN dagapp.dag_queues USING (queue) WHERE NOT cancelled
),
back AS (
  INSERT INTO dagapp.dag_queue_ready (${messageColumns}) OVERRIDING SYSTEM VALUE
  SELECT ${messageColumns} FROM judged WHERE NOT exhausted
),
dead AS (
  INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
  SELECT ${messageColumns}, '${maxDeliveriesExceeded}',
    'Delivered ' || deliveries - released || ' times; its last holder, ' || holder
      || ', stopped renewing the lease.'
  FROM judged WHERE exhausted
),
woken AS MATERIALIZED (
  SELECT pg_notify(channel, '') FROM (
    SELECT DISTINCT
      CASE WHEN exhausted THEN '${engineChannel}' ELSE ${queueChannelSql("queue")} END AS channel
    FROM judged) AS wakes
)
SELECT count(*)::integer AS swept, (SELECT count(*) FROM woken) FROM gone`;

const showDueText = `
WITH due AS MATERIALIZED (
  SELECT ctid FROM dagapp.dag_queue_ready WHERE queue = $1 AND visible_at <= now()
  ORDER BY visible_at LIMIT 1000 FOR UPDATE SKIP LOCKED
)
UPDATE dagapp.dag_queue_ready SET visible_at = NULL
WHERE ctid = ANY (ARRAY(SELECT ctid FROM due))`;

/** Returns expired leases to their queues, or to the dead letters; answers how many. */
export async function returnExpired(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ swept: number }>(
    returnExpiredText,
    [],
    "dag_queue_return_expired",
  );
  return rows[0]?.swept ?? 0;
}

/** Makes delayed messages ready whose time has come. */
export async function showDue(db: Queryable, queue: string): Promise<void> {
  await db.query(showDueText, [queue], "dag_queue_show_due");
}
