import type { NodeSummary } from "../../../core/api/job-schemas.ts";
import type { Facts, NodeFact } from "../../../core/dag/evaluate/facts.ts";
import type { Graph } from "../../../core/dag/graph.ts";
import { implicitFacts, isImplicit } from "../../../core/dag/implicit-nodes.ts";
import { whyWaiting } from "../../../core/dag/evaluate/wait-reason.ts";
import { isSettled } from "../../../core/model/node.ts";
import type { Queryable } from "../queryable.ts";
import type { Offers } from "./handlers.ts";
import { readOffers } from "./handlers.ts";
import type { JobWithoutNodes } from "./jobs.ts";
import type { NodeRow } from "./node-rows.ts";
import { toNodeColumns } from "./node-rows.ts";
import { countChildren, readStaticNodes } from "./nodes.ts";

type JobPart = Pick<JobWithoutNodes, "job_id" | "status" | "paused">;
type JobTimes = Pick<JobWithoutNodes, "created_at" | "started_at" | "completed_at">;

/** Reads all static nodes of a job, in the order of its graph. */
export async function readJobNodes(
  db: Queryable,
  job: JobPart & JobTimes,
  graph: Graph | undefined,
): Promise<NodeSummary[]> {
  const rows = await readNodeRows(db, job, graph);
  const nodes = await describeNodes(db, job, graph, rows, rows);
  const place = (id: string) => graph?.byId.get(id)?.position ?? Number.MAX_SAFE_INTEGER;
  return nodes.sort((a, b) => place(a.node_id) - place(b.node_id));
}

/** The rows of the static nodes of a job, and those of its implicit nodes, which have none. */
export async function readNodeRows(
  db: Queryable,
  job: JobPart & JobTimes,
  graph: Graph | undefined,
): Promise<readonly NodeRow[]> {
  const names = graph?.nodes.map(({ id }) => id).filter((id) => !isImplicit(id));
  const rows = await readStaticNodes(db, job.job_id, names);
  if (graph === undefined) return rows;
  const facts = new Map(rows.map((row) => [row.node_id, toFact(row)]));
  const implicit = implicitFacts(graph, job.status, facts);
  return [...rows, ...implicit.map((fact) => toImplicitRow(job, graph, fact))];
}

function toImplicitRow(
  job: JobPart & JobTimes,
  graph: Graph,
  { node_id, status, attempt, retry_count, throttle_count }: NodeFact,
): NodeRow {
  const node_type = graph.byId.get(node_id)?.type ?? "start";
  const settledAt = node_type === "start" ? job.started_at : job.completed_at;
  return {
    job_id: job.job_id,
    node_id,
    node_type,
    status,
    stored_status: status,
    attempt,
    retry_count,
    throttle_count,
    max_retries: 0,
    parent_node_id: null,
    fan_out_index: null,
    task_id: null,
    handler: null,
    queue: null,
    worker_id: null,
    error: null,
    fan_out: null,
    branch: null,
    progress_percent: null,
    progress_message: null,
    retry_at: null,
    created_at: new Date(job.created_at),
    dispatched_at: null,
    started_at: null,
    completed_at: isSettled(status) && settledAt !== null ? new Date(settledAt) : null,
  };
}

/** Adds to some nodes of a job why they wait, and the counts of their children. */
export async function describeNodes(
  db: Queryable,
  job: JobPart,
  graph: Graph | undefined,
  rows: readonly NodeRow[],
  statics: readonly NodeRow[],
): Promise<NodeSummary[]> {
  const histograms = await countChildren(db, job, rows);
  const waits = rows.some((row) => !isSettled(row.status));
  const offers: Offers = waits ? await readOffers(db) : () => false;
  const facts = toFacts(job, [...statics, ...rows]);
  return rows.map((row) => {
    const columns = toNodeColumns(row);
    const started = row.status === "running" && row.stored_status === "dispatched";
    const reason =
      graph === undefined || started ? undefined : whyWaiting(graph, facts, row.node_id, offers);
    const children = histograms.get(row.node_id) ?? null;
    return { ...columns, wait_reason: reason ?? null, children };
  });
}

function toFacts({ job_id, status, paused }: JobPart, rows: readonly NodeRow[]): Facts {
  return {
    job: { job_id, status, paused, inputs: {}, context: {}, env: {} },
    nodes: new Map(rows.map((row) => [row.node_id, toFact(row)])),
    unsettled: 0,
    reports: [],
  };
}

function toFact(row: NodeRow): NodeFact {
  return {
    node_id: row.node_id,
    status: row.stored_status,
    attempt: row.attempt,
    retry_count: row.retry_count,
    throttle_count: row.throttle_count,
    retry_at: row.retry_at?.getTime(),
    output: row.branch ?? undefined,
    fan_out: row.fan_out ?? undefined,
    parent:
      row.parent_node_id === null || row.fan_out_index === null
        ? undefined
        : { node_id: row.parent_node_id, index: row.fan_out_index },
  };
}
