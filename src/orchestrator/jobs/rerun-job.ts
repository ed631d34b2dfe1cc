import type { JobRow } from "../../adapters/postgres/repositories/jobs.ts";
import { loadStaticNodes } from "../../adapters/postgres/repositories/nodes.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import type { Graph, GraphNode } from "../../core/dag/compile/graph.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { JobDeps } from "./deps.ts";
import { graphOfJob } from "../engine/deps.ts";
import type { RerunRequest, SubmitAnswer } from "./verbs.ts";
import { lockExistingJob } from "./request-change.ts";
import type { Inheritance } from "./submit-jobs.ts";
import { checkedInputs, newJobId, submitJobs } from "./submit-jobs.ts";

/*
 * Terminal states never change, so retry and rerun create a new job that inherits the finished nodes
 * of the first: same definition, same correlation id, and `rerun_of` holds the id of the first.
 */

/** The new job inherits every node that succeeded, children of a failed fan-out included. */
export function retryJob(deps: JobDeps, jobId: string): Promise<SubmitAnswer> {
  return submitAgain(deps, jobId, undefined, (graph, nodes, row) => {
    if (row.status === "completed") {
      throw new Problem("NOTHING_TO_RETRY", `job "${jobId}" completed: rerun it from a node`);
    }
    return inherit(graph, nodes, new Set());
  });
}

/** The new job runs `from_node` and all its descendants again. */
export function rerunJob(
  deps: JobDeps,
  jobId: string,
  { from_node, inputs }: RerunRequest,
): Promise<SubmitAnswer> {
  return submitAgain(deps, jobId, inputs, (graph, nodes) => {
    const start = graph.byId.get(from_node);
    if (start === undefined) {
      const known = graph.nodes.map((node) => node.id).join(", ");
      throw new Problem("NODE_NOT_FOUND", `there is no node "${from_node}"; there are: ${known}`);
    }
    return inherit(graph, nodes, withDescendants(start));
  });
}

type Choose = (
  graph: Graph,
  nodes: ReadonlyMap<string, NodeFact>,
  row: JobRow,
) => Omit<Inheritance, "from">;

async function submitAgain(
  deps: JobDeps,
  jobId: string,
  inputs: JsonObject | undefined,
  choose: Choose,
): Promise<SubmitAnswer> {
  const { row, nodes } = await deps.db.transaction(async (tx) => {
    const locked = await lockExistingJob(tx, jobId);
    const facts = await loadStaticNodes(tx, [jobId]);
    return {
      row: locked,
      nodes: new Map(facts.map(({ job_id: _, ...fact }) => [fact.node_id, fact])),
    };
  });
  if (!isFinished(row.status)) {
    throw new Problem("JOB_NOT_FINISHED", `job "${jobId}" is ${row.status}: cancel it first`);
  }
  const graph = await graphOfJob(deps, row.workflow_hash);
  const given = { ...row.input_params, ...inputs };
  const inherited = { from: jobId, ...choose(graph, nodes, row) };
  const [answer] = await submitJobs(deps, [
    {
      job: {
        job_id: newJobId(),
        workflow_id: row.workflow_id,
        workflow_hash: row.workflow_hash,
        workflow_version: row.workflow_version,
        priority: row.priority,
        input_params: checkedInputs(graph, given),
        owner_id: deps.ownerId,
        correlation_id: row.correlation_id,
        idempotency_key: null,
        submitted_by: row.submitted_by,
        callback_url: row.callback_url,
        rerun_of: jobId,
        nodes_total: graph.nodes.length,
      },
      graph,
      inherited,
    },
  ]);
  if (answer === undefined || answer instanceof Problem) {
    throw answer ?? new Problem("INTERNAL", "the job could not be created");
  }
  return answer;
}

function inherit(
  graph: Graph,
  nodes: ReadonlyMap<string, NodeFact>,
  rerun: ReadonlySet<string>,
): { nodes: Map<string, NodeFact>; fanOuts: string[] } {
  const kept = new Map<string, NodeFact>();
  const fanOuts: string[] = [];
  for (const { id, type, definition } of graph.nodes) {
    const fact = nodes.get(id);
    if (fact === undefined || rerun.has(id)) continue;
    if (fact.status === "completed" || fact.status === "skipped") {
      kept.set(id, fact);
      if (type === "fan_out") fanOuts.push(id);
    } else if (type === "fan_out" && fact.fan_out !== undefined) {
      // A limit on concurrency starts children in the order of their index. A fan-out that is half
      // done has gaps in that order, so with a limit it runs again as a whole.
      if (definition.max_concurrency !== undefined) continue;
      const { total, completed } = fact.fan_out;
      const counters = { total, completed, next_index: total, failed: 0, failed_indexes: [] };
      kept.set(id, { ...fact, status: "running", error: undefined, fan_out: counters });
      fanOuts.push(id);
    }
  }
  return { nodes: kept, fanOuts };
}

function withDescendants(start: GraphNode): ReadonlySet<string> {
  const found = new Set([start.id]);
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const { to } of node.outgoing) {
      if (!found.has(to.id)) {
        found.add(to.id);
        open.push(to);
      }
    }
  }
  return found;
}
