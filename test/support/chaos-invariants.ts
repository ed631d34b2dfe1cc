import { expect } from "vitest";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { expectReplay } from "./replay.ts";

/**
 * Invariants of the tables once every job has ended. Each is a query for its violations, so that a
 * failure prints the rows that break it.
 */
const violations: Readonly<Record<string, string>> = {
  "every job has ended": `
    SELECT job_id, status FROM dagapp.dag_jobs WHERE status IN ('pending', 'running')`,
  "a job ends once, and then only late results are noted": `
    SELECT later.job_id, later.seq, later.event_type
    FROM dagapp.dag_unpacked_events ended JOIN dagapp.dag_unpacked_events later USING (job_id)
    WHERE ended.event_type IN ('job_completed', 'job_failed', 'job_cancelled')
      AND later.seq > ended.seq AND later.event_type <> 'result_ignored'`,
  "the success of a node is recorded once": `
    SELECT job_id, node_id, count(*) FROM dagapp.dag_unpacked_events
    WHERE event_type = 'node_completed' GROUP BY job_id, node_id HAVING count(*) > 1`,
  "an attempt is dispatched once": `
    SELECT job_id, task_id, count(*) FROM dagapp.dag_unpacked_events
    WHERE event_type = 'node_dispatched' GROUP BY job_id, task_id HAVING count(*) > 1`,
  "nothing runs before what it depends on": `
    SELECT n.job_id, n.node_id FROM dagapp.dag_node_states n JOIN dagapp.dag_node_states parent
      ON parent.job_id = n.job_id AND parent.node_id = n.parent_node_id
    WHERE parent.status IN ('pending', 'skipped')`,
  "retries stay within their budget": `
    SELECT job_id, node_id, retry_count, max_retries, attempt FROM dagapp.dag_node_states
    WHERE retry_count > max_retries OR attempt <> retry_count + throttle_count`,
  "a retry waits for its delay": `
    SELECT retry.job_id, retry.node_id, again.created_at, retry.event_data
    FROM dagapp.dag_unpacked_events retry JOIN LATERAL (
      SELECT created_at FROM dagapp.dag_unpacked_events e
      WHERE e.job_id = retry.job_id AND e.node_id = retry.node_id AND e.seq > retry.seq
        AND e.event_type = 'node_dispatched' ORDER BY e.seq LIMIT 1) AS again ON true
    WHERE retry.event_type = 'node_retry'
      AND again.created_at < (retry.event_data ->> 'retry_at')::timestamptz`,
  "a fan-out of n has n children": `
    SELECT p.job_id, p.node_id, p.fan_out, count(c.node_id)
    FROM dagapp.dag_node_states p LEFT JOIN dagapp.dag_node_states c
      ON c.job_id = p.job_id AND c.parent_node_id = p.node_id
    WHERE p.fan_out IS NOT NULL GROUP BY p.job_id, p.node_id, p.fan_out
    HAVING count(c.node_id) <> (p.fan_out ->> 'total')::integer
      OR coalesce(max(c.fan_out_index), -1) <> (p.fan_out ->> 'total')::integer - 1`,
  "the counters of a fan-out are those of its children": `
    SELECT p.job_id, p.node_id, p.fan_out FROM dagapp.dag_node_states p
    WHERE p.fan_out IS NOT NULL AND p.status = 'completed' AND (
      SELECT (count(*) FILTER (WHERE status = 'completed'), count(*) FILTER (WHERE status = 'failed'))
      FROM dagapp.dag_node_states c WHERE c.job_id = p.job_id AND c.parent_node_id = p.node_id)
      <> ((p.fan_out ->> 'completed')::bigint, (p.fan_out ->> 'failed')::bigint)`,
  "a job keeps the definition it was created with": `
    SELECT job_id FROM dagapp.dag_jobs JOIN dagapp.dag_unpacked_events e USING (job_id)
    WHERE e.event_type = 'job_created' AND e.event_data ->> 'workflow_hash' <> workflow_hash`,
  "a key names one job": `
    SELECT idempotency_key FROM dagapp.dag_jobs WHERE idempotency_key IS NOT NULL
    GROUP BY idempotency_key HAVING count(*) > 1`,
  "checkpoints are numbered without a gap": `
    SELECT job_id, node_id FROM dagapp.dag_checkpoints
    GROUP BY job_id, node_id HAVING max(seq) <> count(*)`,
  "a claim names the owner before it, or none after a release": `
    SELECT job_id, seq, event_data, before FROM (
      SELECT job_id, seq, event_data, lag(event_data ->> 'owner_id')
        OVER (PARTITION BY job_id ORDER BY seq) AS before
      FROM dagapp.dag_unpacked_events WHERE event_type = 'job_claimed') AS claims
    WHERE before IS NOT NULL AND event_data ->> 'previous_owner' <> before`,
  "no message waits for a job that has ended": `
    SELECT message_key FROM dagapp.dag_queue_ready q JOIN dagapp.dag_jobs j
      ON j.job_id = q.group_key WHERE j.status IN ('completed', 'failed', 'cancelled')
      AND NOT EXISTS (SELECT FROM dagapp.dag_attempts a WHERE a.task_id = q.message_key)`,
};

/** Fails with the name of what is broken and the rows that break it. */
export async function expectInvariants(db: Database): Promise<void> {
  const broken: Record<string, unknown[]> = {};
  for (const [name, text] of Object.entries(violations)) {
    const { rows } = await db.query(text);
    if (rows.length > 0) broken[name] = rows.slice(0, 10);
  }
  expect(broken).toEqual({});
  const { rows: jobs } = await db.query<{ job_id: string }>(`SELECT job_id FROM dagapp.dag_jobs`);
  for (const { job_id } of jobs) await expectReplay(db, job_id);
}

/** Lists rows that explain why no job makes progress. */
export async function describeStuck(db: Database): Promise<string> {
  const parts: Readonly<Record<string, string>> = {
    jobs: `SELECT job_id, workflow_id, status, owner_id, dirty, paused_at, nodes_unsettled,
             event_seq, now() - updated_at AS quiet FROM dagapp.dag_jobs
           WHERE status IN ('pending', 'running') LIMIT 20`,
    nodes: `SELECT n.job_id, n.node_id, n.status, n.attempt, n.task_id, n.retry_at - now() AS due_in,
              n.fan_out FROM dagapp.dag_node_states n JOIN dagapp.dag_jobs j USING (job_id)
            WHERE j.status IN ('pending', 'running')
              AND n.status IN ('ready', 'dispatched', 'running') LIMIT 40`,
    results: `SELECT r.task_id, r.status, r.reported_at FROM dagapp.dag_task_inbox
              JOIN dagapp.dag_task_results r USING (task_id) LIMIT 40`,
    ready: `SELECT message_key, queue, deliveries, visible_at FROM dagapp.dag_queue_ready LIMIT 40`,
    leases: `SELECT message_key, deliveries, holder, until - now() AS ends_in, cancelled
             FROM dagapp.dag_queue_leases LIMIT 40`,
    dead: `SELECT message_key, reason, detail, handled FROM dagapp.dag_queue_dead LIMIT 20`,
    owners: `SELECT owner_id, pid, now() - heartbeat_at AS silent FROM dagapp.dag_orchestrators`,
    workers: `SELECT worker_id, pid, busy, now() - heartbeat_at AS silent FROM dagapp.dag_workers`,
    sessions: `SELECT pid, application_name, state, wait_event, left(query, 60) AS query
               FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'`,
  };
  const lines: string[] = [];
  for (const [name, text] of Object.entries(parts)) {
    const { rows } = await db.query(text);
    lines.push(`${name}:`, ...rows.map((row) => `  ${JSON.stringify(row)}`));
  }
  return lines.join("\n");
}
