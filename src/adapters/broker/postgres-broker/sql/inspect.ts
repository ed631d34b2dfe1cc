import { queueChannelSql } from "../../../postgres/channels.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import type { DeadLetter, QueueDepth, QueueSpec } from "../../broker.ts";
import { messageColumns } from "./message-columns.ts";

export async function ensureQueue(db: Queryable, queue: string, spec: QueueSpec): Promise<void> {
  // The WHERE avoids a write: every process of a fleet declares the same queues at its start.
  await db.query(
    `INSERT INTO dagapp.dag_queues AS q (queue, lease_ms, max_deliveries, dedupe_ms)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (queue) DO UPDATE
     SET lease_ms = excluded.lease_ms, max_deliveries = excluded.max_deliveries,
         dedupe_ms = excluded.dedupe_ms
     WHERE (q.lease_ms, q.max_deliveries, q.dedupe_ms)
       <> (excluded.lease_ms, excluded.max_deliveries, excluded.dedupe_ms)`,
    [queue, spec.leaseMs, spec.maxDeliveries, spec.dedupeMs ?? 0],
  );
}

/** Reads how long a delivery of this queue is leased; undefined: the queue is not declared. */
export async function findLeaseMs(db: Queryable, queue: string): Promise<number | undefined> {
  const { rows } = await db.query<{ lease_ms: number }>(
    "SELECT lease_ms FROM dagapp.dag_queues WHERE queue = $1",
    [queue],
  );
  return rows[0]?.lease_ms;
}

export async function readDepth(db: Queryable, queue: string): Promise<QueueDepth> {
  const { rows } = await db.query<QueueDepth>(
    `SELECT
       count(*) FILTER (WHERE visible_at IS NULL OR visible_at <= now())::integer AS ready,
       count(*) FILTER (WHERE visible_at > now())::integer AS delayed,
       (SELECT count(*)::integer FROM dagapp.dag_queue_leases WHERE queue = $1) AS in_flight,
       (SELECT count(*)::integer FROM dagapp.dag_queue_dead WHERE queue = $1) AS dead,
       extract(epoch FROM now() - min(enqueued_at)
         FILTER (WHERE visible_at IS NULL OR visible_at <= now()))::float8 AS oldest_seconds
     FROM dagapp.dag_queue_ready WHERE queue = $1`,
    [queue],
  );
  const [depth] = rows;
  if (depth === undefined) throw new Error("The query of the queue's depth answered no row.");
  return depth;
}

/** Reads dead letters, the newest first. */
export async function readDeadLetters(
  db: Queryable,
  queue: string,
  limit: number,
): Promise<DeadLetter[]> {
  const { rows } = await db.query<Omit<DeadLetter, "died_at"> & { died_at: Date }>(
    `SELECT message_id::text AS id, message_key, body, reason, detail,
       deliveries - released AS delivery_count, died_at
     FROM dagapp.dag_queue_dead WHERE queue = $1 ORDER BY message_id DESC LIMIT $2`,
    [queue, limit],
  );
  return rows.map((row) => ({ ...row, died_at: row.died_at.toISOString() }));
}

/**
 * Moves dead letters back to the ready table. `deliveries` is a fence and must never repeat, so
 * `released` is set to it: their difference, the delivery count, is 0 again.
 */
export async function requeue(
  db: Queryable,
  queue: string,
  ids: readonly string[],
): Promise<number> {
  const numbers = ids.filter((id) => /^[0-9]{1,18}$/.test(id));
  const { rows } = await db.query<{ requeued: number }>(
    `WITH removed AS (
       DELETE FROM dagapp.dag_queue_dead WHERE queue = $1 AND message_id = ANY ($2::bigint[])
       RETURNING ${messageColumns}
     ),
     requeued AS (
       INSERT INTO dagapp.dag_queue_ready (${messageColumns}) OVERRIDING SYSTEM VALUE
       SELECT message_id, queue, priority, deliveries, deliveries, 0, message_key, group_key, headers,
         body, enqueued_at
       FROM removed
     )
     SELECT count(*)::integer AS requeued, pg_notify(${queueChannelSql("$1")}, '') FROM removed`,
    [queue, numbers],
  );
  return rows[0]?.requeued ?? 0;
}
