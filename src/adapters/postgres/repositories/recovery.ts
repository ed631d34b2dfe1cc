import type { Queryable } from "../queryable.ts";
import { toInbox } from "./reports.ts";

/** How long a worker may take to report a timeout itself before the orchestrator does. */
const graceSeconds = 30;

/**
 * Tasks whose message was given up: the node must hear of it, or its job would wait for ever. The
 * message stays among the dead letters for people to look at.
 */
export async function failDeadLettered(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    `WITH dead AS (
       UPDATE dagapp.dag_queue_dead SET handled = true
       WHERE message_id IN (
         SELECT message_id FROM dagapp.dag_queue_dead
         WHERE NOT handled ORDER BY message_id LIMIT 500 FOR UPDATE SKIP LOCKED)
       RETURNING group_key, message_key, reason, detail, deliveries),
     recorded AS (
     INSERT INTO dagapp.dag_task_results (task_id, job_id, node_id, status, error)
     SELECT n.task_id, n.job_id, n.node_id, 'failed', jsonb_build_object(
         'code', 'DEAD_LETTERED',
         'message', 'the task was given up after ' || deliveries || ' deliveries: '
           || coalesce(detail, reason),
         'category', 'permanent')
     FROM dead JOIN dagapp.dag_node_states n
       ON n.job_id = dead.group_key AND n.task_id = dead.message_key
     WHERE n.status IN ('dispatched', 'running')
     ON CONFLICT (task_id) DO NOTHING RETURNING task_id, job_id),
     ${toInbox}
     SELECT FROM recorded`,
  );
  return rowCount ?? 0;
}

/**
 * Attempts that ran past their time on a worker that does not say so (it hangs, or a busy handler
 * starves it). Waiting in a queue does not count: only a lease has a start.
 */
export async function failOverdue(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    `WITH overdue AS (
       DELETE FROM dagapp.dag_queue_leases
       WHERE message_id IN (
         SELECT message_id FROM dagapp.dag_queue_leases
         WHERE headers ? 'timeout_seconds' AND leased_at
             + ((headers ->> 'timeout_seconds')::float8 + $1) * interval '1 second' < now()
         FOR UPDATE SKIP LOCKED)
       RETURNING group_key, message_key, holder, leased_at, headers),
     recorded AS (
     INSERT INTO dagapp.dag_task_results
       (task_id, job_id, node_id, status, error, worker_id, started_at)
     SELECT n.task_id, n.job_id, n.node_id, 'failed', jsonb_build_object(
         'code', 'TIMEOUT',
         'message', 'the task ran longer than ' || (headers ->> 'timeout_seconds') || ' seconds',
         'category', 'transient'),
       holder, leased_at
     FROM overdue JOIN dagapp.dag_node_states n
       ON n.job_id = overdue.group_key AND n.task_id = overdue.message_key
     WHERE n.status IN ('dispatched', 'running')
     ON CONFLICT (task_id) DO NOTHING RETURNING task_id, job_id),
     ${toInbox}
     SELECT FROM recorded`,
    [graceSeconds],
  );
  return rowCount ?? 0;
}

/**
 * Dispatched long ago, yet neither queued, nor leased, nor dead, nor reported: the message is gone.
 * It cannot happen while the broker is this database, but a table can be emptied by hand.
 */
export async function failLost(
  db: Queryable,
  ownerId: string,
  afterSeconds: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `WITH recorded AS (
     INSERT INTO dagapp.dag_task_results (task_id, job_id, node_id, status, error)
     SELECT n.task_id, n.job_id, n.node_id, 'failed', jsonb_build_object(
         'code', 'MESSAGE_LOST',
         'message', 'the task was queued, but its message is gone',
         'category', 'transient')
     FROM dagapp.dag_jobs j
     JOIN dagapp.dag_node_states n USING (job_id)
     WHERE j.owner_id = $1 AND j.status = 'running'
       AND n.status = 'dispatched' AND n.dispatched_at < now() - $2 * interval '1 second'
       AND NOT EXISTS (SELECT FROM dagapp.dag_queue_ready q WHERE q.message_key = n.task_id)
       AND NOT EXISTS (SELECT FROM dagapp.dag_queue_leases q WHERE q.message_key = n.task_id)
       AND NOT EXISTS (SELECT FROM dagapp.dag_queue_dead q WHERE q.message_key = n.task_id)
       AND NOT EXISTS (SELECT FROM dagapp.dag_task_results r WHERE r.task_id = n.task_id)
     LIMIT 1000
     ON CONFLICT (task_id) DO NOTHING RETURNING task_id, job_id),
     ${toInbox}
     SELECT FROM recorded`,
    [ownerId, afterSeconds],
  );
  return rowCount ?? 0;
}
