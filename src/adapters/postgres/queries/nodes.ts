import type { Histogram } from "../../../core/api/job-schemas.ts";
import { isImplicit } from "../../../core/dag/implicit-nodes.ts";
import type { JobStatus } from "../../../core/model/job.ts";
import { isFinished } from "../../../core/model/job.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import { childrenByIndex, createdChildren } from "../children-by-index.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions, cut } from "./conditions.ts";
import type { NodeRow } from "./node-rows.ts";
import { isStored, nodeColumns, statusCondition, withLease } from "./node-rows.ts";
import type { JsonObject } from "../../../core/model/json.ts";

/**
 * Reads the static nodes of a job, by their names where those are known: a job can have a million
 * children beside them.
 */
export async function readStaticNodes(
  db: Queryable,
  jobId: string,
  names: readonly string[] | undefined,
): Promise<NodeRow[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM dagapp.dag_node_states n
     ${withLease("$1", names === undefined ? undefined : "$2")}
     WHERE n.job_id = $1 AND ${names === undefined ? "$2::text[] IS NULL" : "n.node_id = ANY ($2)"}
       AND n.parent_node_id IS NULL
     ORDER BY n.node_id`,
    [jobId, names ?? null],
  );
  return rows;
}

export async function findNode(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<NodeRow | undefined> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM dagapp.dag_node_states n ${withLease("$1", "ARRAY[$2]")}
     WHERE n.job_id = $1 AND n.node_id = $2`,
    [jobId, nodeId],
  );
  return rows[0];
}

interface ChildFilter {
  readonly parent: string;
  readonly status?: NodeStatus | undefined;
  readonly after?: number | undefined;
  readonly isArchived?: boolean;
}

/** So many children are searched for those with a status. Reading all nodes of the job takes less for more of them. */
const mostSearched = 5000;

/** Reads the children of a fan-out by index, after an index. */
export async function readChildren(
  db: Queryable,
  jobId: string,
  filter: ChildFilter,
  limit: number,
): Promise<{ nodes: NodeRow[]; next: number | null }> {
  const { status, isArchived = false } = filter;
  const from = (filter.after ?? -1) + 1;
  const most = limit + 1;
  const to = from + (status === undefined ? most : mostSearched);
  // Rows from an archive have no index to be found by.
  const rows = isArchived
    ? await scanChildren(db, jobId, filter, from, most)
    : await searchChildren(db, jobId, filter, [from, to], most);
  if (!isArchived && status !== undefined && rows.length < most) {
    rows.push(...(await scanChildren(db, jobId, filter, to, most - rows.length)));
  }
  const page = cut(rows, limit);
  return { nodes: page.rows, next: page.last?.fan_out_index ?? null };
}

/** Children from one index up to another, each found by its name. */
async function searchChildren(
  db: Queryable,
  jobId: string,
  { parent, status }: ChildFilter,
  [from, to]: readonly [number, number],
  most: number,
): Promise<NodeRow[]> {
  const children = childrenByIndex({
    job: "$1",
    fanOut: "$2::text",
    from: "$3::int",
    to: `least($4::int, ${createdChildren("$1", "$2")})`,
  });
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM ${children} ${withLease("$1")}
     WHERE ${statusCondition(status)} LIMIT $5`,
    [jobId, parent, from, to, most],
  );
  return rows;
}

/** Children from an index on, found by reading all nodes of the job, if there are as many children. */
async function scanChildren(
  db: Queryable,
  jobId: string,
  { parent, status, isArchived = false }: ChildFilter,
  from: number,
  most: number,
): Promise<NodeRow[]> {
  const { rows } = await db.query<NodeRow>(
    `SELECT ${nodeColumns} FROM dagapp.dag_node_states n ${withLease("$1")}
     WHERE n.job_id = $1 AND n.parent_node_id = $2 AND n.fan_out_index >= $3
       AND ${isArchived ? "true" : `${createdChildren("$1", "$2")} > $3`}
       AND ${statusCondition(status)}
     ORDER BY n.fan_out_index LIMIT $4`,
    [jobId, parent, from, most],
  );
  return rows;
}

/**
 * Counts the children of each fan-out of a job by status, from the counters of the fan-out and from the
 * leases of the job: ten children cost as much as a hundred thousand. A child that waits for its retry
 * counts as dispatched.
 */
export async function countChildren(
  db: Queryable,
  job: { readonly job_id: string; readonly status: JobStatus },
  parents: readonly NodeRow[],
): Promise<Map<string, Histogram>> {
  const expanded = parents.filter((node) => node.fan_out !== null);
  if (expanded.length === 0) return new Map();
  const isOpen = !isFinished(job.status);
  const ids = expanded.map(({ node_id }) => node_id);
  const running = isOpen ? await countRunning(db, job.job_id, ids) : new Map<string, number>();
  return new Map(
    expanded.map(({ node_id, fan_out }) => {
      const { total = 0, next_index = 0, completed = 0, failed = 0 } = fan_out ?? {};
      const begun = Math.max(0, next_index - completed - failed);
      const held = Math.min(begun, running.get(node_id) ?? 0);
      const histogram: Histogram = {
        total,
        pending: 0,
        ready: isOpen ? total - next_index : 0,
        dispatched: isOpen ? begun - held : 0,
        running: held,
        completed,
        failed,
        skipped: 0,
        cancelled: isOpen ? 0 : total - completed - failed,
      };
      return [node_id, histogram];
    }),
  );
}

/**
 * The number of children of these fan-outs that a worker runs now. They are counted in the database, by the
 * names of their tasks: a job may have thousands, and its watchers ask several times a second.
 */
async function countRunning(
  db: Queryable,
  jobId: string,
  fanOutIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ fan_out_id: string; running: number }>(
    `SELECT fan_out_id, count(DISTINCT task_id)::int AS running
     FROM dagapp.dag_running_tasks
     JOIN unnest($2::text[]) AS f(fan_out_id) ON starts_with(task_id, $1 || '_' || fan_out_id || '__')
       -- Its index and attempt follow, and not the name of a fan-out that begins alike.
       AND translate(substr(task_id, length($1 || fan_out_id) + 4), '0123456789', '') = '_'
     WHERE job_id = $1 GROUP BY fan_out_id`,
    [jobId, fanOutIds],
  );
  return new Map(rows.map(({ fan_out_id, running }) => [fan_out_id, running]));
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

/** Lists nodes of all jobs, without the implicit ones. Walks the jobs by age, so that no index over all nodes is needed. */
export async function listNodes(
  db: Queryable,
  filter: {
    status?: NodeStatus | undefined;
    handler?: string | undefined;
    queue?: string | undefined;
    workflow_id?: string | undefined;
    job_id?: string | undefined;
    worker_id?: string | undefined;
    error?: string | undefined;
  },
  limit: number,
  after: NodePlace | undefined,
): Promise<{ nodes: NodeOfJobRow[]; next: NodePlace | null }> {
  const jobs = new Conditions()
    .add("j.workflow_id = ?", filter.workflow_id)
    .add("j.job_id = ?", filter.job_id);
  const nodes = new Conditions(jobs.values)
    .add("n.handler = ?", filter.handler)
    .add("n.queue = ?", filter.queue)
    .add("coalesce(l.worker_id, n.worker_id) = ?", filter.worker_id)
    .add(
      "strpos(lower(concat_ws(' ', n.error ->> 'code', n.error ->> 'message')), lower(?)) > 0",
      filter.error,
    )
    .always(statusCondition(filter.status))
    .always(isStored("n.node_id"));
  if (after !== undefined) {
    const at = jobs.value(after.created_at);
    const job = jobs.value(after.job_id);
    const node = nodes.value(after.node_id);
    jobs.always(`(j.created_at, j.job_id) <= (${at}::timestamptz, ${job})`);
    nodes.always(
      `((j.created_at, j.job_id) < (${at}::timestamptz, ${job}) OR n.node_id > ${node})`,
    );
  }
  const most = nodes.value(limit + 1);
  const { rows } = await db.query<NodeOfJobRow & { place: string }>(
    `SELECT n.*, j.workflow_id, j.status AS job_status, j.created_at::text AS place
     FROM dagapp.dag_jobs j CROSS JOIN LATERAL (
       SELECT ${nodeColumns} FROM dagapp.dag_node_states n ${withLease("j.job_id")}
       WHERE n.job_id = j.job_id AND ${nodes.toString()}
       ORDER BY n.node_id LIMIT ${most}) n
     WHERE ${jobs.toString()}
     ORDER BY j.created_at DESC, j.job_id DESC, n.node_id LIMIT ${most}`,
    nodes.values,
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
  { job_id: jobId, node_id: nodeId, status }: Pick<NodeRow, "job_id" | "node_id" | "status">,
): Promise<NodeData> {
  if (isImplicit(nodeId)) {
    return { timeout_seconds: null, params: null, output: status === "completed" ? {} : null };
  }
  const { rows } = await db.query<NodeData>(
    `SELECT timeout_seconds, input_params AS params, output
     FROM dagapp.dag_node_states WHERE job_id = $1 AND node_id = $2`,
    [jobId, nodeId],
  );
  return rows[0] ?? { timeout_seconds: null, params: null, output: null };
}

/** Reads the parameters of these nodes of a job. */
export async function readParams(
  db: Queryable,
  jobId: string,
  nodeIds: readonly string[],
): Promise<readonly { readonly node_id: string; readonly params: JsonObject }[]> {
  const { rows } = await db.query<{ node_id: string; params: JsonObject }>(
    `SELECT node_id, input_params AS params FROM dagapp.dag_node_states
     WHERE job_id = $1 AND node_id = ANY($2) AND input_params IS NOT NULL`,
    [jobId, nodeIds],
  );
  return rows;
}
