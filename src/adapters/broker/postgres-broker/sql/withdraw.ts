import { withdrawnChannel } from "../../../postgres/channels.ts";
import type { Transaction } from "../../../postgres/queryable.ts";

/**
 * Deletes the ready messages of these groups; `cancelLeasesSql` then cancels the leased ones. Two
 * statements on purpose: a message that is fetched while the first waits for its row lock is a lease
 * when the second starts. One statement with one snapshot would see the message in neither table.
 */
const deleteReadySql = `
WITH waiting AS MATERIALIZED (
  SELECT ctid FROM dagapp.dag_queue_ready WHERE group_key = ANY ($1::text[])
  ORDER BY message_id FOR UPDATE
)
DELETE FROM dagapp.dag_queue_ready WHERE ctid = ANY (ARRAY(SELECT ctid FROM waiting))`;

const cancelLeasesSql = `
WITH held AS MATERIALIZED (
  SELECT message_id FROM dagapp.dag_queue_leases
  WHERE group_key = ANY ($1::text[]) AND NOT cancelled
  ORDER BY message_id FOR UPDATE
),
marked AS (
  UPDATE dagapp.dag_queue_leases SET cancelled = true
  WHERE message_id = ANY (ARRAY(SELECT message_id FROM held)) RETURNING message_id
)
SELECT pg_notify('${withdrawnChannel}', '') FROM (SELECT 1 FROM marked LIMIT 1) AS any_marked`;

export async function withdraw(tx: Transaction, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return;
  await tx.query(deleteReadySql, [groups], "dag_queue_remove_group");
  await tx.query(cancelLeasesSql, [groups], "dag_queue_cancel_group");
}
