/**
 * The outputs of a fan-out's children, as they were pushed. A fan-in whose sources are all here reads no
 * rows of children: reading a thousand of them and their JSON takes PostgreSQL 5 ms. It is a cache: an output
 * that came another way, and all outputs of a fan-out that is wide or has large ones, are read from the rows.
 */
import type { Graph } from "../../core/dag/graph.ts";
import type { JobState } from "./job-state.ts";

const mostChildren = 10_000;
const mostLength = 4_000_000;

export interface ChildOutputs {
  /** By index; JSON. */
  readonly texts: string[];
  count: number;
  length: number;
}

export function keepChildOutput(
  state: JobState,
  { node_id, index }: { readonly node_id: string; readonly index: number },
  text: string,
): void {
  const kept = state.childOutputs?.get(node_id) ?? { texts: [], count: 0, length: 0 };
  const length = kept.length + text.length;
  const total = state.nodes.get(node_id)?.fan_out?.total ?? Infinity;
  if (total > mostChildren || length > mostLength || !isCollected(state.graph, node_id)) return;
  (state.childOutputs ??= new Map()).set(node_id, kept);
  kept.texts[index] = text;
  kept.count += 1;
  kept.length = length;
}

/** Takes the outputs out, in index order; undefined: one of them is not here. */
export function takeChildOutputs(
  state: JobState,
  fanOutId: string,
  total: number,
): readonly string[] | undefined {
  const kept = state.childOutputs?.get(fanOutId);
  state.childOutputs?.delete(fanOutId);
  return kept?.count === total ? kept.texts : undefined;
}

function isCollected(graph: Graph, fanOutId: string): boolean {
  return graph.byId.get(fanOutId)?.outgoing.some(({ to }) => to.type === "fan_in") === true;
}
