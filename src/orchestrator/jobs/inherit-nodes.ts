import { isDeepStrictEqual } from "node:util";
import type { KeptFanOut } from "../../adapters/postgres/repositories/children.ts";
import type { Graph, GraphNode } from "../../core/dag/graph.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import { isImplicit } from "../../core/dag/implicit-nodes.ts";
import { Problem } from "../../core/errors.ts";
import type { Inheritance } from "./submit-jobs.ts";

type Kept = Omit<Inheritance, "from">;

/** Keeps every settled node that is not in `again`, and the settled children of unfinished fan-outs. */
export function inherit(
  graph: Graph,
  facts: ReadonlyMap<string, NodeFact>,
  again: ReadonlySet<string>,
): Kept {
  const nodes = new Map<string, NodeFact>();
  const fanOuts: KeptFanOut[] = [];
  for (const node of graph.nodes) {
    const fact = facts.get(node.id);
    if (fact === undefined || again.has(node.id) || isImplicit(node.id)) continue;
    if (fact.status === "completed" || fact.status === "skipped") {
      nodes.set(node.id, fact);
      if (node.type === "fan_out" && fact.status === "completed") fanOuts.push(keptFanOut(node));
    } else if (node.type === "fan_out" && fact.fan_out !== undefined) {
      // A limit on concurrency starts children in the order of their index. A fan-out that is half
      // done has gaps in that order, so with a limit it runs again as a whole.
      if (node.definition.max_concurrency !== undefined) continue;
      const { total, completed, created = total } = fact.fan_out;
      const kept = { total, completed, next_index: created, failed: 0, failed_indexes: [] };
      const counters = created < total ? { ...kept, created } : kept;
      nodes.set(node.id, { ...fact, status: "running", error: undefined, fan_out: counters });
      fanOuts.push(keptFanOut(node));
    }
  }
  return { nodes, fanOuts };
}

/**
 * Keeps nodes of a job for a newer version of its workflow. A node that ran is kept only if the newer
 * version would have run it in the same way; a different one is refused, because nodes that already
 * used its output would not fit it. Nodes that did not run may differ, and an unfinished fan-out that
 * differs runs again as a whole.
 */
export function inheritForNewer(
  before: Graph,
  after: Graph,
  facts: ReadonlyMap<string, NodeFact>,
  again: ReadonlySet<string>,
): Kept {
  const kept = inherit(after, facts, again);
  const nodes = new Map(kept.nodes);
  const refused = new Map<GraphNode, readonly string[]>();
  // Backwards, so that the successors of a skipped node are decided before it.
  for (const node of after.nodes.toReversed()) {
    const fact = nodes.get(node.id);
    const old = before.byId.get(node.id);
    if (fact === undefined || old === undefined) continue;
    const different = fact.status === "skipped" ? edgesDiffer(old, node) : differences(old, node);
    if (different.length === 0) continue;
    const isUsed = node.outgoing.some(({ to }) => nodes.has(to.id) && to.type !== "end");
    const mayRunAgain =
      node.type === "end" || fact.status === "running" || (fact.status === "skipped" && !isUsed);
    if (mayRunAgain) nodes.delete(node.id);
    else refused.set(node, different);
  }
  if (refused.size > 0) throw workflowChanged(after, refused);
  return { nodes, fanOuts: kept.fanOuts.filter(({ node_id }) => nodes.has(node_id)) };
}

export function withDescendants(start: GraphNode): ReadonlySet<string> {
  return reached(start, ({ outgoing }) => outgoing.map(({ to }) => to));
}

function withAncestors(start: GraphNode): ReadonlySet<string> {
  return reached(start, ({ incoming }) => incoming.map(({ from }) => from));
}

function reached(
  start: GraphNode,
  next: (node: GraphNode) => readonly GraphNode[],
): ReadonlySet<string> {
  const found = new Set([start.id]);
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const other of next(node)) {
      if (!found.has(other.id)) {
        found.add(other.id);
        open.push(other);
      }
    }
  }
  return found;
}

/** The children that run again take these settings, which a newer version may have changed. */
function keptFanOut({ id, definition }: GraphNode & { type: "fan_out" }): KeptFanOut {
  const { queue, timeout_seconds, retry } = definition.task;
  return { node_id: id, queue, timeout_seconds, max_retries: retry.max_attempts };
}

/** Lists the keys in which two nodes differ so that the output of one may not fit the other. */
function differences(before: GraphNode, after: GraphNode): string[] {
  const [old, now] = [meaningOf(before), meaningOf(after)];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return [
    ...keys.filter((key) => !isDeepStrictEqual(old[key], now[key])),
    ...edgesDiffer(before, after),
  ];
}

/** The parts of a definition that decide the output of a node. */
function meaningOf({ type, definition }: GraphNode): Record<string, unknown> {
  switch (definition.type) {
    case "start":
    case "end":
      return { type };
    case "task":
      return { type, handler: definition.handler, params: definition.params };
    case "fan_out": {
      const { source, task } = definition;
      return { type, source, handler: task.handler, params: task.params };
    }
    case "fan_in":
      return { type, aggregation: definition.aggregation, field: definition.field };
    case "conditional": {
      const { condition_field, branches } = definition;
      return { type, condition_field, conditions: branches.map(({ condition }) => condition) };
    }
  }
}

function edgesDiffer(before: GraphNode, after: GraphNode): string[] {
  return isDeepStrictEqual(edgesTo(before), edgesTo(after)) ? [] : ["depends_on"];
}

function edgesTo({ join, incoming }: GraphNode) {
  const from = new Map(incoming.map((edge) => [edge.from.id, edge.branches]));
  return { join: incoming.length > 1 ? join : "all_of", from };
}

function workflowChanged(graph: Graph, refused: ReadonlyMap<GraphNode, readonly string[]>) {
  const names = [...refused.keys()].map(({ id }) => id).toReversed();
  const from = lastBefore(graph, [...refused.keys()]);
  const detail =
    `the newest version of workflow "${graph.definition.workflow_id}" differs in nodes that have ` +
    `run already: ${names.join(", ")}; rerun the job from node "${from}" with the newest version`;
  const items = [...refused].toReversed().map(([node, keys]) => ({
    pointer: `/nodes/${node.id}`,
    code: "NODE_CHANGED",
    message: `${keys.map((key) => `"${key}"`).join(" and ")} changed since this node ran`,
  }));
  return new Problem("WORKFLOW_CHANGED", detail, items);
}

/** A search for each of thousands of nodes would take minutes in a large graph. */
const mostSearched = 100;

/** The last node in graph order that is, or comes before, all of these nodes. */
function lastBefore(graph: Graph, ids: readonly GraphNode[]): string {
  const start = graph.nodes[0]?.id ?? "";
  if (ids.length > mostSearched) return start;
  const before = ids.map(withAncestors);
  const found = graph.nodes.findLast(({ id }) => before.every((each) => each.has(id)));
  return found?.id ?? start;
}
