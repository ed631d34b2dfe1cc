import type { Histogram } from "../../../core/api/job-schemas.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut } from "./conditions.ts";
import type { NodeRow } from "./node-rows.ts";
import { nodeColumns, statusCondition, withLease } from "./node-rows.ts";
import type { JsonObject } from "../../../core/model/json.ts";

/** Reads static nodes only; with `ids`, only those. */
export async function readStaticNodes(db: Queryable, jobId: string): Promise<NodeRow[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM dagapp.dag_node_states n ${withLease}
     WHERE n.job_id = $1 AND n.parent_node_id IS NULL ORDER BY n.node_id`,
    [jobId],
  );
  return rows;
}

export async function findNode(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<NodeRow | undefined> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM dagapp.dag_node_states n ${withLease}
     WHERE n.job_id = $1 AND n.node_id = $2`,
    [jobId, nodeId],
  );
  return rows[0];
}

/** Reads the children of a fan-out by index, after an index. */
export async function readChildren(
  db: Queryable,
  jobId: string,
  filter: { parent: string; status?: NodeStatus | undefined; after?: number | undefined },
  limit: number,
): Promise<{ nodes: NodeRow[]; next: number | null }> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM dagapp.dag_node_states n ${withLease}
     WHERE n.job_id = $1 AND n.parent_node_id = $2 AND n.fan_out_index > $3
       AND ${statusCondition(filter.status)}
     ORDER BY n.fan_out_index LIMIT $4`,
    [jobId, filter.parent, filter.after ?? -1, limit + 1],
  );
  const page = cut(rows, limit);
  return { nodes: page.rows, next: page.last?.fan_out_index ?? null };
}

/** Counts the children of each fan-out of a job by status. */
export async function countChildren(
  db: Queryable,
  jobId: string,
  parents: readonly NodeRow[],
): Promise<Map<string, Histogram>> {
  const expanded = parents.filter((node) => node.fan_out !== null);
  if (expanded.length === 0) return new Map();
  const { rows } = await db.query<{ parent: string; status: NodeStatus; count: number }>(
    `SELECT n.parent_node_id AS parent, count(*) AS count,
            CASE WHEN l.task_id IS NULL THEN n.status ELSE 'running' END AS status
     FROM dagapp.dag_node_states n
     LEFT JOIN (SELECT DISTINCT task_id FROM dagapp.dag_running_tasks
                WHERE job_id = $1) l
       ON n.status = 'dispatched' AND l.task_id = n.task_id
     WHERE n.job_id = $1 AND n.parent_node_id = ANY ($2)
     GROUP BY 1, 3`,
    [jobId, expanded.map((node) => node.node_id)],
  );
  return new Map(
    expanded.map((node) => {
      const own = rows.filter((row) => row.parent === node.node_id);
      const of = (status: NodeStatus) => own.find((row) => row.status === status)?.count ?? 0;
      const seen = own.reduce((sum, row) => sum + row.count, 0);
      const total = node.fan_out?.total ?? seen;
      const histogram: Histogram = {
        total,
        // Children without a row yet count as pending.
        pending: of("pending") + Math.max(0, total - seen),
        ready: of("ready"),
        dispatched: of("dispatched"),
        running: of("running"),
        completed: of("completed"),
        failed: of("failed"),
        skipped: of("skipped"),
        cancelled: of("cancelled"),
      };
      return [node.node_id, histogram];
    }),
  );
}

export interface NodePlace {
  readonly created_at: string;
  readonly job_id: string;
  readonly node_id: string;
}

export type NodeOfJobRow = NodeRow & {
  readonly workflow_id: string;
  readonly job_status: "pending" | "running" | "completed" | "failed" | "cancelled";
};

/** Lists nodes of all jobs. Walks the jobs by age, so that no index over all nodes is needed. */
export async function listNodes(
  db: Queryable,
  filter: {
    status?: NodeStatus | undefined;
    handler?: string | undefined;
    queue?: string | undefined;
    workflow_id?: string | undefined;
  },
  limit: number,
  after: NodePlace | undefined,
): Promise<{ nodes: NodeOfJobRow[]; next: NodePlace | null }> {
  const where = new Conditions()
    .add("n.handler = ?", filter.handler)
    .add("n.queue = ?", filter.queue)
    .add("j.workflow_id = ?", filter.workflow_id)
    .always(statusCondition(filter.status));
  if (after !== undefined) {
    const at = where.value(after.created_at);
    const job = where.value(after.job_id);
    const node = where.value(after.node_id);
    where.always(`(j.created_at, j.job_id) <= (${at}::timestamptz, ${job})`);
    where.always(
      `((j.created_at, j.job_id) < (${at}::timestamptz, ${job}) OR n.node_id > ${node})`,
    );
  }
  const most = where.value(limit + 1);
  const { rows } = await db.query<NodeOfJobRow & { place: string }>(
    `SELECT ${nodeColumns}, j.workflow_id, j.status AS job_status, j.created_at::text AS place
     FROM dagapp.dag_jobs j JOIN dagapp.dag_node_states n ON n.job_id = j.job_id ${withLease}
     WHERE ${where.toString()}
     ORDER BY j.created_at DESC, j.job_id DESC, n.node_id LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  const { last } = page;
  return {
    nodes: page.rows,
    next: last && { created_at: last.place, job_id: last.job_id, node_id: last.node_id },
  };
}

export interface NodeData {
  readonly timeout_seconds: number | null;
  readonly params: JsonObject | null;
  readonly output: JsonObject | null;
}

/** Reads the large columns of one node, which lists do not read. */
export async function readNodeData(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<NodeData> {
  const { rows } = await db.query<NodeData>(
    `SELECT timeout_seconds, input_params AS params, output
     FROM dagapp.dag_node_states WHERE job_id = $1 AND node_id = $2`,
    [jobId, nodeId],
  );
  return rows[0] ?? { timeout_seconds: null, params: null, output: null };
}
