import type { FanOutCounters, NodeFact } from "../../../core/dag/evaluate/facts.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { NodeStatus, NodeType } from "../../../core/model/node.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Queryable, Transaction } from "../queryable.ts";
import { rowStatement } from "../row-statement.ts";
import { searchByKey } from "../search-by-key.ts";

interface NodeRow {
  readonly job_id: string;
  readonly node_id: string;
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly retry_count: number;
  readonly throttle_count: number;
  readonly retry_at_ms: number | null;
  readonly output: JsonObject | null;
  readonly input_params: JsonObject | null;
  readonly error: TaskError | null;
  readonly fan_out: FanOutCounters | null;
  readonly parent_node_id: string | null;
  readonly fan_out_index: number | null;
}

export type NodeOfJob = NodeFact & { readonly job_id: string };

const factColumns = `n.job_id, n.node_id, n.status, n.attempt, n.retry_count, n.throttle_count,
  (extract(epoch FROM n.retry_at) * 1000)::float8 AS retry_at_ms, n.output, n.input_params, n.error,
  n.fan_out, n.parent_node_id, n.fan_out_index`;

function toFact(row: NodeRow): NodeOfJob {
  const { job_id, node_id, status, attempt, retry_count, throttle_count } = row;
  const parent =
    row.parent_node_id === null || row.fan_out_index === null
      ? undefined
      : { node_id: row.parent_node_id, index: row.fan_out_index };
  return {
    job_id,
    node_id,
    status,
    attempt,
    retry_count,
    throttle_count,
    retry_at: row.retry_at_ms ?? undefined,
    output: row.output ?? undefined,
    params: row.input_params ?? undefined,
    error: row.error ?? undefined,
    fan_out: row.fan_out ?? undefined,
    parent,
  };
}

/** Loads the static nodes of these jobs. There can be thousands of children: they are never all loaded. */
export async function loadStaticNodes(
  db: Queryable,
  jobIds: readonly string[],
): Promise<readonly NodeOfJob[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${factColumns} FROM dagapp.dag_node_states n
     WHERE n.job_id = ANY($1) AND n.parent_node_id IS NULL`,
    [jobIds],
    "load_static_nodes",
  );
  return rows.map(toFact);
}

/** Loads nodes by name: children whose retry is due. */
export async function loadNodes(
  db: Queryable,
  keys: readonly { readonly job_id: string; readonly node_id: string }[],
): Promise<readonly NodeOfJob[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${factColumns} FROM dagapp.dag_node_states n
     JOIN unnest($1::text[], $2::text[]) AS k(job_id, node_id)
       ON ${searchByKey("n.job_id", "k.job_id")} AND n.node_id = k.node_id`,
    [keys.map((key) => key.job_id), keys.map((key) => key.node_id)],
    "load_nodes",
  );
  return rows.map(toFact);
}

/** Loads the children of these dirty jobs whose retry is due. */
export async function loadDueChildren(
  db: Queryable,
  jobIds: readonly string[],
): Promise<readonly NodeOfJob[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${factColumns} FROM dagapp.dag_node_states n
     WHERE n.retry_at <= now() AND n.job_id = ANY($1) AND n.parent_node_id IS NOT NULL`,
    [jobIds],
  );
  return rows.map(toFact);
}

export interface NewNode {
  readonly job_id: string;
  readonly node_type: NodeType;
  readonly fact: NodeFact;
  readonly task_id: string | null;
  readonly handler: string | null;
  readonly queue: string | null;
  readonly timeout_seconds: number | null;
  readonly max_retries: number;
}

const insertNodesStatement = rowStatement<NewNode>(
  "insert_nodes",
  {
    job_id: ["text", (node) => node.job_id],
    node_id: ["text", ({ fact }) => fact.node_id],
    type: ["text", (node) => node.node_type],
    status: ["text", ({ fact }) => fact.status],
    parent: ["text", ({ fact }) => fact.parent?.node_id ?? null],
    index: ["int", ({ fact }) => fact.parent?.index ?? null],
    attempt: ["int", ({ fact }) => fact.attempt],
    task_id: ["text", (node) => node.task_id],
    handler: ["text", (node) => node.handler],
    queue: ["text", (node) => node.queue],
    timeout: ["int", (node) => node.timeout_seconds],
    retries: ["int", (node) => node.max_retries],
    params: ["json", ({ fact }) => toJson(fact.params)],
    output: ["json", ({ fact }) => toJson(fact.output)],
    error: ["text", ({ fact }) => toJson(fact.error)],
    fan_out: ["text", ({ fact }) => toJson(fact.fan_out)],
  },
  (rows) => `INSERT INTO dagapp.dag_node_states
       (job_id, node_id, node_type, status, parent_node_id, fan_out_index, attempt, task_id,
        handler, queue, timeout_seconds, max_retries, input_params, output, error, fan_out,
        dispatched_at, completed_at)
     SELECT job_id, node_id, type::dagapp.node_type, status::dagapp.node_status, parent, index,
        attempt, task_id, handler, queue, timeout, retries, params::jsonb, output::jsonb,
        error::jsonb, fan_out::jsonb,
        CASE WHEN status = 'dispatched' THEN now() END,
        CASE WHEN status IN ('completed', 'failed', 'skipped', 'cancelled') THEN now() END
     FROM ${rows("t")}`,
);

export function insertNodes(tx: Transaction, nodes: readonly NewNode[]): void {
  const { text, values, name } = insertNodesStatement(nodes);
  tx.send(text, values, name);
}

export interface NodeUpdate {
  readonly job_id: string;
  readonly fact: NodeFact;
  /**
   * The output is in the job's result, which this transaction has written, under the name of the node. It
   * is copied from there: reading the JSON of a thousand outputs again takes milliseconds.
   */
  readonly in_result: boolean;
  /** The task of a new dispatch. */
  readonly task_id: string | null;
  /** The worker whose result settled the node. */
  readonly worker_id: string | null;
  readonly started_at: string | null;
}

const updateNodesStatement = rowStatement<NodeUpdate>(
  "update_nodes",
  {
    job_id: ["text", (update) => update.job_id],
    node_id: ["text", ({ fact }) => fact.node_id],
    status: ["text", ({ fact }) => fact.status],
    attempt: ["int", ({ fact }) => fact.attempt],
    retries: ["int", ({ fact }) => fact.retry_count],
    throttles: ["int", ({ fact }) => fact.throttle_count],
    task_id: ["text", (update) => update.task_id],
    // Parameters are written with the first dispatch and never change.
    params: ["json", ({ task_id, fact }) => (task_id === null ? null : toJson(fact.params))],
    output: ["json", ({ in_result, fact }) => (in_result ? null : toJson(fact.output))],
    error: ["text", ({ fact }) => toJson(fact.error)],
    fan_out: ["text", ({ fact }) => toJson(fact.fan_out)],
    retry_at: ["float8", ({ fact }) => fact.retry_at ?? null],
    worker_id: ["text", (update) => update.worker_id],
    started_at: ["timestamptz", (update) => update.started_at],
    in_result: ["boolean", (update) => update.in_result],
  },
  (rows) => `UPDATE dagapp.dag_node_states n SET
       status = u.status::dagapp.node_status,
       attempt = u.attempt,
       retry_count = u.retries,
       throttle_count = u.throttles,
       task_id = coalesce(u.task_id, n.task_id),
       input_params = coalesce(u.params::jsonb, n.input_params),
       output = CASE WHEN u.in_result
         THEN (SELECT result_data -> u.node_id FROM dagapp.dag_jobs WHERE job_id = u.job_id)
         ELSE u.output::jsonb END,
       error = u.error::jsonb,
       fan_out = u.fan_out::jsonb,
       retry_at = to_timestamp(u.retry_at / 1000),
       worker_id = coalesce(u.worker_id, n.worker_id),
       dispatched_at = CASE WHEN u.task_id IS NULL THEN n.dispatched_at ELSE now() END,
       started_at = CASE WHEN u.task_id IS NULL THEN coalesce(u.started_at, n.started_at) END,
       completed_at = CASE WHEN u.status IN ('completed', 'failed', 'skipped', 'cancelled')
         THEN now() END
     FROM ${rows("u")}
     WHERE ${searchByKey("n.job_id", "u.job_id")} AND n.node_id = u.node_id`,
);

export function updateNodes(tx: Transaction, updates: readonly NodeUpdate[]): void {
  const { text, values, name } = updateNodesStatement(updates);
  tx.send(text, values, name);
}

/** Cancels the unsettled nodes of jobs that ended early, children included. */
export function cancelUnsettledNodes(tx: Transaction, jobIds: readonly string[]): void {
  tx.send(
    `UPDATE dagapp.dag_node_states SET status = 'cancelled', retry_at = NULL, completed_at = now()
     WHERE job_id = ANY($1) AND status IN ('pending', 'ready', 'dispatched', 'running')`,
    [jobIds],
  );
}

/** The key of a node: where a walk through the nodes of all open jobs has come to. */
export interface NodeKey {
  readonly job_id: string;
  readonly node_id: string;
}

/**
 * Finds tasks of this orchestrator's jobs that were dispatched so long ago and have no result. It walks
 * `most` nodes behind `after` by their keys, and answers the last one where more are left: a job can
 * have a million nodes. Jobs that are younger are left out, for no task is older than its job.
 */
export async function findDispatched(
  db: Queryable,
  ownerId: string,
  afterSeconds: number,
  after: NodeKey | undefined,
  most: number,
): Promise<{
  readonly tasks: readonly { readonly job_id: string; readonly task_id: string }[];
  readonly last: NodeKey | undefined;
}> {
  const { rows } = await db.query<NodeKey & { task_id: string; due: boolean; place: number }>(
    `WITH open AS (
       SELECT job_id FROM dagapp.dag_jobs
       WHERE owner_id = $1 AND status = 'running' AND job_id >= $3
         AND created_at < now() - $2 * interval '1 second'
       ORDER BY job_id),
     walked AS (
       SELECT n.* FROM open CROSS JOIN LATERAL (
         SELECT job_id, node_id, task_id, status, dispatched_at FROM dagapp.dag_node_states
         WHERE job_id = open.job_id AND (job_id, node_id) > ($3, $4)
         ORDER BY job_id, node_id LIMIT $5) n
       LIMIT $5),
     judged AS (
       SELECT job_id, node_id, task_id, row_number() OVER (ORDER BY job_id, node_id) AS place,
         coalesce(status = 'dispatched' AND dispatched_at < now() - $2 * interval '1 second'
           AND NOT EXISTS (SELECT FROM dagapp.dag_task_results r WHERE r.task_id = walked.task_id),
           false) AS due
       FROM walked)
     SELECT * FROM judged WHERE due OR place = $5 ORDER BY place`,
    [ownerId, afterSeconds, after?.job_id ?? "", after?.node_id ?? "", most],
  );
  const tasks = rows.filter(({ due }) => due);
  const end = rows.at(-1);
  const last = end?.place === most ? { job_id: end.job_id, node_id: end.node_id } : undefined;
  return { tasks, last };
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Makes the next attempt of a waiting node due now. False: the node does not wait for one. */
export async function makeRetryDue(
  tx: Transaction,
  jobId: string,
  nodeId: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE dagapp.dag_node_states SET retry_at = now()
     WHERE job_id = $1 AND node_id = $2 AND status = 'ready' AND retry_at IS NOT NULL`,
    [jobId, nodeId],
  );
  return rowCount === 1;
}
