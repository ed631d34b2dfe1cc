import type { Facts, Report } from "./facts.ts";
import type { Graph } from "../compile/graph.ts";
import type { WorkItem } from "./worklist.ts";

/** Where an evaluation begins: what changed, or everything when nobody knows. */
export function whereToLook(graph: Graph, facts: Facts): readonly WorkItem[] {
  const ids = facts.changed ?? [...graph.byId.keys(), ...childrenIn(facts)];
  return ids.map((node_id) => ({ node_id, ...placeOf(graph, facts, node_id) }));
}

function childrenIn(facts: Facts): readonly string[] {
  return [...facts.nodes.values()].filter((fact) => fact.parent).map((fact) => fact.node_id);
}

function placeOf(graph: Graph, facts: Facts, nodeId: string): { position: number; index: number } {
  const parent = facts.nodes.get(nodeId)?.parent;
  const position = graph.byId.get(parent?.node_id ?? nodeId)?.position ?? graph.nodes.length;
  return { position, index: parent?.index ?? -1 };
}

/** Reports in graph order and not in order of arrival. */
export function inGraphOrder(graph: Graph, facts: Facts): readonly Report[] {
  return facts.reports
    .map((report) => ({ report, ...placeOf(graph, facts, report.node_id) }))
    .sort(
      (a, b) =>
        a.position - b.position ||
        a.index - b.index ||
        compare(a.report.task_id, b.report.task_id) ||
        compare(a.report.outcome.status, b.report.outcome.status),
    )
    .map(({ report }) => report);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
