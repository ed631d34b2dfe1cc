/**
 * Settles deliveries: complete, retry, release, dead-letter. Each statement names the delivery by
 * (message_id, deliveries), so it finds no row and answers `lost` when the lease has expired and the
 * message was leased to another consumer.
 *
 * Leases that are settled together are sorted by message id, so that two statements on the same leases
 * lock them in the same order and cannot deadlock.
 */
import { engineChannel, queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { Settled } from "../../broker.ts";
import type { LeaseToken } from "./message-columns.ts";
import { maxDeliveriesExceeded } from "../../broker.ts";
import { messageColumns } from "./message-columns.ts";
import { searchByKey } from "../../../postgres/search-by-key.ts";

const deleteHeld = `
  DELETE FROM dagapp.dag_queue_leases AS lease
  USING unnest($1::bigint[], $2::integer[]) AS held(id, count)
  WHERE ${searchByKey("lease.message_id", "held.id")} AND lease.deliveries = held.count`;

const completeSql = `${deleteHeld} RETURNING lease.message_id`;

/**
 * Moves the message to the ready table, or after its last delivery to the dead letters. A cancelled
 * message is only deleted: its job has ended.
 */
const retrySql = `
WITH removed AS (
  DELETE FROM dagapp.dag_queue_leases WHERE message_id = $1 AND deliveries = $2
  RETURNING ${messageColumns}, cancelled, suspect
),
classified AS (
  SELECT removed.*, deliveries - released >= max_deliveries AS exhausted
  FROM removed JOIN dagapp.dag_queues USING (queue) WHERE NOT cancelled
),
returned AS (
  INSERT INTO dagapp.dag_queue_ready (${messageColumns}, suspect, visible_at)
    OVERRIDING SYSTEM VALUE
  SELECT ${messageColumns}, suspect,
    CASE WHEN $3::bigint > 0 OR suspect IS NOT NULL THEN now() + $3::bigint * interval '1 ms' END
  FROM classified WHERE NOT exhausted
),
dead AS (
  INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
  SELECT ${messageColumns}, '${maxDeliveriesExceeded}', $4::text FROM classified WHERE exhausted
)
SELECT pg_notify(CASE WHEN exhausted THEN '${engineChannel}'
                 ELSE ${queueChannelSql("queue")} END, '')
FROM removed LEFT JOIN classified USING (message_id, queue)`;

const releaseSql = `
WITH removed AS (${deleteHeld} RETURNING lease.*),
returned AS (
  INSERT INTO dagapp.dag_queue_ready (${messageColumns}, suspect, visible_at)
    OVERRIDING SYSTEM VALUE
  SELECT message_id, queue, priority, deliveries, released + 1, lost, message_key, group_key, headers,
    body, enqueued_at, suspect, CASE WHEN suspect IS NOT NULL THEN now() END
  FROM removed WHERE NOT cancelled
),
woken AS MATERIALIZED (
  SELECT pg_notify(${queueChannelSql("queue")}, '') FROM (SELECT DISTINCT queue FROM removed) AS queues
)
SELECT message_id, (SELECT count(*) FROM woken) FROM removed`;

const deadLetterSql = `
WITH removed AS (
  DELETE FROM dagapp.dag_queue_leases WHERE message_id = $1 AND deliveries = $2
  RETURNING ${messageColumns}
),
dead AS (
  INSERT INTO dagapp.dag_queue_dead (${messageColumns}, reason, detail)
  SELECT ${messageColumns}, $3, $4::text FROM removed
)
SELECT pg_notify('${engineChannel}', '') FROM removed`;

const renewSql = `
UPDATE dagapp.dag_queue_leases AS lease SET until = now() + lease_ms * interval '1 ms'
FROM dagapp.dag_queues AS spec
WHERE lease.message_id = $1 AND lease.deliveries = $2 AND spec.queue = lease.queue`;

/** Deletes the leases of completed messages; answers in the order given. */
export async function complete(db: Queryable, leases: readonly LeaseToken[]): Promise<Settled[]> {
  return settleMany(db, completeSql, leases, "dag_queue_complete");
}

/** Returns messages to their queue, not counted as a delivery; answers in the order given. */
export async function release(db: Queryable, leases: readonly LeaseToken[]): Promise<Settled[]> {
  return settleMany(db, releaseSql, leases, "dag_queue_release");
}

export async function retry(
  db: Queryable,
  lease: LeaseToken,
  { delayMs = 0, reason }: { delayMs?: number; reason?: string },
): Promise<Settled> {
  const values = [lease.message_id, lease.deliveries, Math.ceil(delayMs), reason ?? null];
  const { rowCount } = await db.query(retrySql, values, "dag_queue_retry");
  return rowCount === 0 ? "lost" : "ok";
}

export async function deadLetter(
  db: Queryable,
  lease: LeaseToken,
  reason: string,
  detail: string | undefined,
): Promise<Settled> {
  const values = [lease.message_id, lease.deliveries, reason, detail ?? null];
  const { rowCount } = await db.query(deadLetterSql, values, "dag_queue_dead_letter");
  return rowCount === 0 ? "lost" : "ok";
}

export async function renew(db: Queryable, lease: LeaseToken): Promise<Settled> {
  const values = [lease.message_id, lease.deliveries];
  const { rowCount } = await db.query(renewSql, values, "dag_queue_renew");
  return rowCount === 0 ? "lost" : "ok";
}

async function settleMany(
  db: Queryable,
  text: string,
  leases: readonly LeaseToken[],
  name: string,
): Promise<Settled[]> {
  const ordered = [...leases].sort((a, b) => a.message_id - b.message_id);
  const { rows } = await db.query<{ message_id: number }>(
    text,
    [ordered.map((lease) => lease.message_id), ordered.map((lease) => lease.deliveries)],
    name,
  );
  const settled = new Set(rows.map(({ message_id }) => message_id));
  return leases.map(({ message_id }) => (settled.has(message_id) ? "ok" : "lost"));
}
