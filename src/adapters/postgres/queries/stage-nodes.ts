/** Reads the nodes of a job of stages. */
import type { JsonObject } from "../../../core/model/json.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import type { TaskError } from "../../../core/model/task.ts";
import { childrenByIndex, createdChildren } from "../children-by-index.ts";
import type { Queryable } from "../queryable.ts";
import { withLease } from "./node-rows.ts";

export interface StageNode {
  readonly status: NodeStatus;
  /** Of a fan-in: the results of its stage, or a reference to them. */
  readonly output: JsonObject | null;
  readonly total: number | null;
  readonly completed: number;
  readonly failed: number;
  readonly changed_at: Date | null;
}

/** By node; the tasks of a stage are not read, their fan-out counts them. */
export async function readStageNodes(
  db: Queryable,
  jobId: string,
): Promise<ReadonlyMap<string, StageNode>> {
  const { rows } = await db.query<StageNode & { node_id: string }>(
    `SELECT node_id, status, CASE WHEN node_type = 'fan_in' THEN output END AS output,
       (fan_out ->> 'total')::int AS total, coalesce((fan_out ->> 'completed')::int, 0) AS completed,
       coalesce((fan_out ->> 'failed')::int, 0) AS failed,
       greatest(dispatched_at, started_at, completed_at) AS changed_at
     FROM dagapp.dag_node_states WHERE job_id = $1 AND parent_node_id IS NULL`,
    [jobId],
  );
  return new Map(rows.map(({ node_id, ...row }) => [node_id, row]));
}

export interface StageTaskRow {
  readonly fan_out_index: number;
  readonly status: NodeStatus;
  readonly is_running: boolean;
  readonly params: JsonObject | null;
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
  readonly retry_count: number;
  readonly created_at: Date;
  readonly dispatched_at: Date | null;
  readonly completed_at: Date | null;
}

export async function readStageTasks(
  db: Queryable,
  jobId: string,
  nodeId: string,
  after: number | undefined,
  limit: number,
): Promise<{ readonly tasks: readonly StageTaskRow[]; readonly next: number | null }> {
  const to = createdChildren("$1", "$2");
  const { rows } = await db.query<StageTaskRow>(
    `SELECT n.fan_out_index, n.status, n.input_params AS params, n.output, n.error, n.retry_count,
       n.created_at, n.dispatched_at, n.completed_at, l.worker_id IS NOT NULL AS is_running
     FROM ${childrenByIndex({ job: "$1", fanOut: "$2::text", from: "$3::int + 1", to })}
     ${withLease("$1")} LIMIT $4`,
    [jobId, nodeId, after ?? -1, limit + 1],
  );
  const tasks = rows.slice(0, limit);
  return { tasks, next: rows.length > limit ? (tasks.at(-1)?.fan_out_index ?? null) : null };
}
