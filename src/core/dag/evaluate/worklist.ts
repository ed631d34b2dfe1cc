import type { Graph } from "../graph.ts";
import type { Facts, Report } from "./facts.ts";

/**
 * A node to consider, with its place in graph order. `index` orders the children of one fan-out.
 */
export interface WorkItem {
  readonly node_id: string;
  readonly position: number;
  readonly index: number;
}

/**
 * Takes items in graph order, whatever order they were added in, so that decisions do not depend on
 * the order of arrival. It is a binary heap, so that considering few nodes of a large job costs
 * little.
 */
export class Worklist {
  private readonly heap: WorkItem[] = [];
  private readonly waiting = new Set<string>();

  add(item: WorkItem): void {
    if (this.waiting.has(item.node_id)) return;
    this.waiting.add(item.node_id);
    const { heap } = this;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.precedes(at, parent)) break;
      this.swap(at, parent);
      at = parent;
    }
  }

  take(): WorkItem | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    this.waiting.delete(first.node_id);
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      let least = at;
      if (left < heap.length && this.precedes(left, least)) least = left;
      if (left + 1 < heap.length && this.precedes(left + 1, least)) least = left + 1;
      if (least === at) return first;
      this.swap(at, least);
      at = least;
    }
  }

  private precedes(a: number, b: number): boolean {
    const one = this.heap[a];
    const other = this.heap[b];
    if (one === undefined || other === undefined) return false;
    return one.position === other.position
      ? one.index < other.index
      : one.position < other.position;
  }

  private swap(a: number, b: number): void {
    const one = this.heap[a];
    const other = this.heap[b];
    if (one === undefined || other === undefined) return;
    this.heap[a] = other;
    this.heap[b] = one;
  }
}

/**
 * The nodes that an evaluation begins with: those that changed, or all of them if the facts do not
 * say.
 */
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

/** Sorts the reports by their nodes, so that the order of arrival has no effect. */
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
