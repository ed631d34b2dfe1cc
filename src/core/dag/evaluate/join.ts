import type { NodeFact } from "./facts.ts";
import type { Edge, GraphNode } from "../graph.ts";

export type EdgeState = "pending" | "live" | "dead";

/**
 * A completed node makes its edges live, a skipped node makes them dead; a completed conditional
 * makes only the edges of the branch that it took live.
 */
export function edgeState(edge: Edge, from: NodeFact): EdgeState {
  switch (from.status) {
    case "skipped":
      return "dead";
    case "completed": {
      if (edge.branches === undefined) return "live";
      const taken = from.output?.["branch"];
      return typeof taken === "number" && edge.branches.includes(taken) ? "live" : "dead";
    }
    // A failed or cancelled node ends the job, so its edges are never decided.
    case "pending":
    case "ready":
    case "dispatched":
    case "running":
    case "failed":
    case "cancelled":
      return "pending";
  }
}

/**
 * Decides from the incoming edges whether a node may start, is skipped, or waits.
 *
 * | edges                    | all_of | any_of |
 * | ------------------------ | ------ | ------ |
 * | none (start)             | ready  | –      |
 * | one live, some pending   | wait   | ready  |
 * | one live, none pending   | ready  | ready  |
 * | all dead                 | skip   | skip   |
 * | pending, none live       | wait   | wait   |
 *
 * Edges that an author wrote under `any_of` beside `all_of` are judged by the second column, the
 * others by the first: the node is ready when both parts are, and skipped when one of them is.
 */
export function judgeJoin(
  node: GraphNode,
  factOf: (node: GraphNode) => NodeFact,
): "ready" | "skip" | "wait" {
  if (node.definition.depends_on?.any_of === undefined) {
    return judgeEdges(node.incoming, node.join, factOf);
  }
  const all = node.incoming.filter((edge) => !edge.isAny);
  const any = node.incoming.filter((edge) => edge.isAny);
  const parts = [judgeEdges(all, "all_of", factOf), judgeEdges(any, "any_of", factOf)];
  if (parts.includes("skip")) return "skip";
  return parts.includes("wait") ? "wait" : "ready";
}

function judgeEdges(
  edges: readonly Edge[],
  join: GraphNode["join"],
  factOf: (node: GraphNode) => NodeFact,
): "ready" | "skip" | "wait" {
  let live = edges.length === 0;
  let pending = false;
  for (const edge of edges) {
    const state = edgeState(edge, factOf(edge.from));
    if (state === "live") live = true;
    else if (state === "pending") pending = true;
  }
  if (live && (!pending || join === "any_of")) return "ready";
  return pending ? "wait" : "skip";
}
