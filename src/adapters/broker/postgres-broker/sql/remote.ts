/** Statements for leases of consumers outside: each names the holder as well as the lease. */
import type { Queryable } from "../../../postgres/queryable.ts";
import { searchByKey } from "../../../postgres/search-by-key.ts";
import type { RemoteTask } from "../../broker.ts";
import type { LeaseToken } from "./message-columns.ts";

const renewSql = `
WITH held AS MATERIALIZED (
  SELECT lease.message_id FROM dagapp.dag_queue_leases AS lease
  JOIN unnest($2::bigint[], $3::integer[]) AS asked(id, count)
    ON ${searchByKey("lease.message_id", "asked.id")} AND lease.deliveries = asked.count
  WHERE lease.holder = $1 ORDER BY lease.message_id FOR UPDATE OF lease
)
UPDATE dagapp.dag_queue_leases AS lease SET until = now() + lease_ms * interval '1 ms'
FROM dagapp.dag_queues AS spec
WHERE lease.message_id IN (SELECT message_id FROM held) AND spec.queue = lease.queue
RETURNING lease.message_id, lease.cancelled`;

/** Renews leases; a cancelled one too, so that its handler has time to stop. */
export async function renewRemote(
  db: Queryable,
  holder: string,
  leases: readonly LeaseToken[],
): Promise<ReadonlyMap<number, "held" | "cancelled">> {
  const { rows } = await db.query<{ message_id: number; cancelled: boolean }>(
    renewSql,
    [holder, ...columns(leases)],
    "dag_queue_renew_remote",
  );
  return new Map(
    rows.map(({ message_id, cancelled }) => [message_id, cancelled ? "cancelled" : "held"]),
  );
}

/** Whether the holder holds any lease. */
export async function holdsAny(db: Queryable, holder: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM dagapp.dag_queue_leases WHERE holder = $1 LIMIT 1",
    [holder],
  );
  return (rowCount ?? 0) > 0;
}

/** Answers those of the leases that the holder holds. */
export async function keepHeld(
  db: Queryable,
  holder: string,
  leases: readonly LeaseToken[],
): Promise<readonly LeaseToken[]> {
  const { rows } = await db.query<{ message_id: number }>(
    `SELECT message_id FROM dagapp.dag_queue_leases AS lease
     JOIN unnest($2::bigint[], $3::integer[]) AS asked(id, count)
       ON ${searchByKey("lease.message_id", "asked.id")} AND lease.deliveries = asked.count
     WHERE lease.holder = $1`,
    [holder, ...columns(leases)],
    "dag_queue_held_remote",
  );
  const held = new Set(rows.map(({ message_id }) => message_id));
  return leases.filter(({ message_id }) => held.has(message_id));
}

/** Reads which tasks the leases of a holder are for, by message id. */
export async function readRemote(
  db: Queryable,
  holder: string,
  leases: readonly LeaseToken[],
): Promise<ReadonlyMap<number, RemoteTask>> {
  const { rows } = await db.query<RemoteTask & { message_id: number }>(
    `SELECT message_id, message_key AS task_id, group_key AS job_id,
       body::jsonb ->> 'node_id' AS node_id
     FROM dagapp.dag_queue_leases AS lease
     JOIN unnest($2::bigint[], $3::integer[]) AS asked(id, count)
       ON ${searchByKey("lease.message_id", "asked.id")} AND lease.deliveries = asked.count
     WHERE lease.holder = $1`,
    [holder, ...columns(leases)],
    "dag_queue_read_remote",
  );
  return new Map(rows.map(({ message_id, ...task }) => [message_id, task]));
}

/** Locks a lease that the holder holds, for the rest of the transaction, and answers its message. */
export async function holdRemote(
  tx: Queryable,
  holder: string,
  { message_id, deliveries }: LeaseToken,
): Promise<{ body: string } | undefined> {
  const { rows } = await tx.query<{ body: string }>(
    `SELECT body FROM dagapp.dag_queue_leases
     WHERE message_id = $1 AND deliveries = $2 AND holder = $3 FOR SHARE`,
    [message_id, deliveries, holder],
  );
  return rows[0];
}

function columns(leases: readonly LeaseToken[]): [number[], number[]] {
  return [leases.map(({ message_id }) => message_id), leases.map(({ deliveries }) => deliveries)];
}
