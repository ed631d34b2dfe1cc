/** Statements on the children of fan-outs. All are set-based, because a fan-out can have thousands. */
import type { JsonObject } from "../../../core/model/json.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import { childNodeId } from "../../../core/model/node.ts";
import type { TaskError } from "../../../core/model/task.ts";
import { childrenByIndex } from "../children-by-index.ts";
import type { Queryable, Transaction } from "../queryable.ts";
import { searchByKey } from "../search-by-key.ts";
import { textArray } from "../text-array.ts";

/** Children of one fan-out to create, from the index `from` on. */
export interface NewChildren {
  readonly job_id: string;
  readonly fan_out_id: string;
  readonly from: number;
  /** One JSON text for each child. */
  readonly params: readonly string[];
  /** So many of the first are dispatched; the others wait for a slot. */
  readonly dispatched: number;
  readonly handler: string;
  readonly queue: string;
  readonly timeout_seconds: number;
  readonly max_retries: number;
}

/**
 * Creates children. What the children of one fan-out share is sent once, and their ids are made in
 * the database: only the parameters are different.
 */
export function insertChildren(tx: Transaction, groups: readonly NewChildren[]): void {
  const group = <K extends keyof NewChildren>(key: K) => groups.map((each) => each[key]);
  tx.send(
    `INSERT INTO dagapp.dag_node_states
       (job_id, node_id, node_type, status, parent_node_id, fan_out_index, task_id, handler, queue,
        timeout_seconds, max_retries, input_params, dispatched_at)
     SELECT job_id, parent || '__' || index, 'task',
        CASE WHEN sent THEN 'dispatched' ELSE 'ready' END::dagapp.node_status, parent, index,
        CASE WHEN sent THEN job_id || '_' || parent || '__' || index || '_0' END, handler, queue,
        timeout, retries, params::jsonb, CASE WHEN sent THEN now() END
     FROM (
       SELECT ($1::text[])[place] AS job_id, ($2::text[])[place] AS parent,
         index < ($3::int[])[place] AS sent, ($4::text[])[place] AS handler,
         ($5::text[])[place] AS queue, ($6::int[])[place] AS timeout,
         ($7::int[])[place] AS retries, index, params
       FROM unnest($8::int[], $9::int[], $10::text[]) AS c(place, index, params)) AS child`,
    [
      group("job_id"),
      group("fan_out_id"),
      groups.map(({ from, dispatched }) => from + dispatched),
      group("handler"),
      group("queue"),
      group("timeout_seconds"),
      group("max_retries"),
      groups.flatMap(({ params }, place) => params.map(() => place + 1)),
      groups.flatMap(({ params, from }) => params.map((_, index) => from + index)),
      textArray(groups.flatMap(({ params }) => params)),
    ],
    "insert_children",
  );
}

export interface ChildOutput {
  readonly node_id: string;
  readonly fan_out_index: number;
  readonly status: NodeStatus;
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
}

/** Reads the children of a fan-out by index: from index `from`, up to but not including `to`. */
export async function readChildOutputs(
  db: Queryable,
  jobId: string,
  fanOutId: string,
  from: number,
  to: number,
): Promise<readonly ChildOutput[]> {
  const children = childrenByIndex({
    job: "$1",
    fanOut: "$2::text",
    from: "$3::int",
    to: "$4::int",
  });
  const { rows } = await db.query<ChildOutput>(
    `SELECT n.node_id, n.fan_out_index, n.status, n.output, n.error FROM ${children}`,
    [jobId, fanOutId, from, to],
  );
  return rows;
}

/** Children of one fan-out to dispatch: from index `from`, up to but not including `to`. */
export interface Release {
  readonly job_id: string;
  readonly fan_out_id: string;
  readonly from: number;
  readonly to: number;
}

export interface ReleasedChild {
  readonly job_id: string;
  readonly node_id: string;
  readonly parent_node_id: string;
  readonly task_id: string;
  readonly attempt: number;
  readonly input_params: JsonObject;
}

/** Dispatches waiting children by index, and answers their parameters for the messages. */
export async function releaseChildren(
  tx: Transaction,
  releases: readonly Release[],
): Promise<readonly ReleasedChild[]> {
  const children = releases.flatMap(({ job_id, fan_out_id, from, to }) =>
    Array.from({ length: to - from }, (_, place) => ({
      job_id,
      node_id: childNodeId(fan_out_id, from + place),
    })),
  );
  const { rows } = await tx.query<ReleasedChild>(
    `UPDATE dagapp.dag_node_states n SET
       status = 'dispatched', dispatched_at = now(),
       task_id = n.job_id || '_' || n.node_id || '_' || n.attempt
     FROM unnest($1::text[], $2::text[]) AS r(job_id, node_id)
     WHERE ${searchByKey("n.job_id", "r.job_id")} AND n.node_id = r.node_id
     RETURNING n.job_id, n.node_id, n.parent_node_id, n.task_id, n.attempt, n.input_params`,
    [children.map(({ job_id }) => job_id), children.map(({ node_id }) => node_id)],
  );
  return rows;
}

/** A child whose attempt has succeeded. */
export interface CompletedChild {
  readonly job_id: string;
  readonly node_id: string;
  readonly attempt: number;
  /** JSON; null: the output is in the recorded result, and never goes through this program. */
  readonly output: string | null;
  readonly worker_id: string | null;
  readonly started_at: string | null;
}

/** Completes children. The transaction fails unless each waits for the result of this attempt. */
export function completeChildren(tx: Transaction, children: readonly CompletedChild[]): void {
  const column = <K extends keyof CompletedChild>(key: K) => children.map((child) => child[key]);
  tx.send(
    `WITH updated AS (
       UPDATE dagapp.dag_node_states n SET
         status = 'completed', error = NULL, completed_at = now(),
         output = coalesce(c.output::jsonb, (SELECT r.output FROM dagapp.dag_task_results r
           WHERE r.task_id = c.job_id || '_' || c.node_id || '_' || c.attempt)),
         worker_id = coalesce(c.worker_id, n.worker_id),
         started_at = coalesce(c.started_at, n.started_at)
       FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::timestamptz[])
         AS c(job_id, node_id, attempt, output, worker_id, started_at)
       WHERE ${searchByKey("n.job_id", "c.job_id")} AND n.node_id = c.node_id
         AND n.status = 'dispatched' AND n.attempt = c.attempt
       RETURNING 1)
     SELECT dagapp.expect((SELECT count(*) FROM updated) = $7)`,
    [
      column("job_id"),
      column("node_id"),
      column("attempt"),
      textArray(column("output")),
      column("worker_id"),
      column("started_at"),
      children.length,
    ],
    "complete_children",
  );
}

/** A fan-out whose children a rerun keeps, with the settings for those that run again. */
export interface KeptFanOut {
  readonly node_id: string;
  readonly queue: string;
  readonly timeout_seconds: number;
  readonly max_retries: number;
}

/**
 * Copies the children of these fan-outs to a job that reruns another one. Completed children stay
 * completed; every other child is due at once, as a first attempt with the same parameters. All nodes of the
 * job are read, once for all fan-outs.
 */
export async function copyChildren(
  tx: Transaction,
  fromJob: string,
  toJob: string,
  fanOuts: readonly KeptFanOut[],
): Promise<void> {
  if (fanOuts.length === 0) return;
  await tx.query(
    `INSERT INTO dagapp.dag_node_states
       (job_id, node_id, node_type, status, parent_node_id, fan_out_index, max_retries, handler,
        queue, timeout_seconds, input_params, output, retry_at, completed_at)
     SELECT $2, n.node_id, n.node_type,
        CASE n.status WHEN 'completed' THEN n.status ELSE 'ready' END,
        n.parent_node_id, n.fan_out_index, ($6::int[])[f.place], n.handler, ($4::text[])[f.place],
        ($5::int[])[f.place], n.input_params,
        CASE n.status WHEN 'completed' THEN n.output END,
        CASE n.status WHEN 'completed' THEN NULL ELSE now() END,
        CASE n.status WHEN 'completed' THEN now() END
     FROM dagapp.dag_node_states n
     CROSS JOIN LATERAL (SELECT array_position($3::text[], n.parent_node_id) AS place) f
     WHERE n.job_id = $1 AND n.parent_node_id = ANY ($3)`,
    [
      fromJob,
      toJob,
      fanOuts.map(({ node_id }) => node_id),
      fanOuts.map(({ queue }) => queue),
      fanOuts.map(({ timeout_seconds }) => timeout_seconds),
      fanOuts.map(({ max_retries }) => max_retries),
    ],
  );
}
