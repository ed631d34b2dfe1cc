import type { JobStatus } from "../model/job.ts";
import { isFinished } from "../model/job.ts";
import type { NodeStatus } from "../model/node.ts";
import { isSettled } from "../model/node.ts";
import type { NodeFact } from "./evaluate/facts.ts";
import { judgeJoin } from "./evaluate/join.ts";
import type { Graph } from "./graph.ts";
import { implicitEnd, implicitStart } from "./source/links.ts";

/** The implicit start and end have no rows and no events, because `implicitFacts` derives their facts. */
export const implicitNodes: readonly string[] = [implicitStart, implicitEnd];

export function isImplicit(nodeId: string): boolean {
  return nodeId === implicitStart || nodeId === implicitEnd;
}

/**
 * Derives the facts of the implicit start and end from the status of the job and the facts of its other
 * nodes: the start completes when the job starts, and the end when the edges that lead to it are decided.
 */
export function implicitFacts(
  graph: Graph,
  status: JobStatus,
  nodes: ReadonlyMap<string, NodeFact>,
): readonly NodeFact[] {
  const facts: NodeFact[] = [];
  if (graph.byId.has(implicitStart)) {
    facts.push(factWith(implicitStart, status === "pending" ? "pending" : "completed"));
  }
  const end = graph.byId.get(implicitEnd);
  if (end !== undefined) {
    const factOf = ({ id }: { readonly id: string }) => nodes.get(id) ?? factWith(id, "pending");
    const verdict = judgeJoin(end, factOf);
    const waits = isFinished(status) ? "cancelled" : "pending";
    const ended = { ready: "completed", skip: "skipped", wait: waits } as const;
    facts.push(factWith(implicitEnd, ended[verdict]));
  }
  return facts;
}

/** How many nodes of the graph are not settled. */
export function countUnsettled(graph: Graph, nodes: ReadonlyMap<string, NodeFact>): number {
  return graph.nodes.filter(({ id }) => !isSettled(nodes.get(id)?.status ?? "pending")).length;
}

/**
 * The count that the row of an open job keeps. It has the implicit start, although that is completed:
 * an orchestrator of 0.1.0 or earlier finds no row of the start, settles it anew, and counts it then.
 */
export function storedUnsettled(graph: Graph, status: JobStatus, unsettled: number): number {
  if (status === "completed") return 0;
  const hasStarted = status === "running" && graph.byId.has(implicitStart);
  return hasStarted ? unsettled + 1 : unsettled;
}

function factWith(nodeId: string, status: NodeStatus): NodeFact {
  const fact = { node_id: nodeId, status, attempt: 0, retry_count: 0, throttle_count: 0 };
  return status === "completed" ? { ...fact, output: {} } : fact;
}
