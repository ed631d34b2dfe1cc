/** Folds long chains and wide rows of alike branches, so that the rest can be drawn large enough to be read. */
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";

/** Nodes of a chain that stay visible before and after the fold. */
const ends = 2;
/** Branches of a row that stay visible. */
const firstBranches = 3;
/** A fold that hides fewer nodes or branches would save no room. */
const fewest = 3;

export interface Fold {
  readonly kind: "chain" | "row";
  readonly hidden: readonly string[];
}

export interface FoldedGraph extends WorkflowGraph {
  /** By the id of the fold, which is drawn in place of the hidden nodes. */
  readonly folds: ReadonlyMap<string, Fold>;
}

export function unfolded(graph: WorkflowGraph): FoldedGraph {
  return { ...graph, folds: new Map() };
}

/** Folds the graph; the folds in `open` are left out. */
export function foldGraph(graph: WorkflowGraph, open: ReadonlySet<string>): FoldedGraph {
  const branches = branchesOf(graph);
  const found = [...rowFolds(branches), ...branches.flatMap(({ nodes }) => chainFold(nodes))];
  const folds = new Map<string, Fold>();
  const foldOf = new Map<string, string>();
  for (const fold of found) {
    const id = `fold ${fold.hidden[0] ?? ""}`;
    if (open.has(id) || fold.hidden.some((each) => foldOf.has(each))) continue;
    folds.set(id, fold);
    for (const nodeId of fold.hidden) foldOf.set(nodeId, id);
  }
  return replaceHidden(graph, folds, foldOf);
}

/** Draws each fold once, in the place of its first node, and each edge to or from it once. */
function replaceHidden(
  graph: WorkflowGraph,
  folds: ReadonlyMap<string, Fold>,
  foldOf: ReadonlyMap<string, string>,
): FoldedGraph {
  const drawn = (id: string) => foldOf.get(id) ?? id;
  const nodes = new Map<string, WorkflowGraph["nodes"][number]>();
  for (const node of graph.nodes) {
    const id = drawn(node.node_id);
    if (!nodes.has(id)) nodes.set(id, id === node.node_id ? node : { ...node, node_id: id });
  }
  const edges = new Map<string, WorkflowGraph["edges"][number]>();
  for (const edge of graph.edges) {
    const [from, to] = [drawn(edge.from), drawn(edge.to)];
    if (from === to) continue;
    const key = JSON.stringify([from, to]);
    const before = edges.get(key);
    if (before === undefined) {
      edges.set(key, { ...edge, from, to });
      continue;
    }
    // Several branches of a conditional lead to the fold: no label would name them all.
    const branches = [...(before.branches ?? []), ...(edge.branches ?? [])];
    edges.set(key, { ...before, label: null, branches: before.branches && branches });
  }
  return { folds, nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** A node, or a run of nodes that each have one edge in and one edge out. */
interface Branch {
  readonly nodes: readonly string[];
  /** Branches of the same kind have the same neighbours and the same handlers. */
  readonly kind: string;
}

function chainFold(nodes: readonly string[]): Fold[] {
  const hidden = nodes.slice(ends, -ends);
  return hidden.length < fewest ? [] : [{ kind: "chain", hidden }];
}

function rowFolds(branches: readonly Branch[]): Fold[] {
  const rows = new Map<string, Branch[]>();
  for (const branch of branches) {
    rows.set(branch.kind, [...(rows.get(branch.kind) ?? []), branch]);
  }
  return [...rows.values()].flatMap((row): Fold[] => {
    const hidden = row.slice(firstBranches);
    if (hidden.length < fewest) return [];
    return [{ kind: "row", hidden: hidden.flatMap(({ nodes }) => nodes) }];
  });
}

function branchesOf({ nodes, edges }: WorkflowGraph): Branch[] {
  const next = new Map<string, string[]>();
  const before = new Map<string, string[]>();
  for (const { from, to } of edges) {
    next.set(from, [...(next.get(from) ?? []), to]);
    before.set(to, [...(before.get(to) ?? []), from]);
  }
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const isLink = (id: string) => next.get(id)?.length === 1 && before.get(id)?.length === 1;
  return nodes.flatMap(({ node_id: first }): Branch[] => {
    const [previous] = before.get(first) ?? [];
    const isInside = isLink(first) && previous !== undefined && isLink(previous);
    if (isInside) return [];
    const run = [first];
    for (let here = next.get(first)?.[0]; isLink(first) && here !== undefined && isLink(here);) {
      run.push(here);
      here = next.get(here)?.[0];
    }
    const kind = JSON.stringify([
      [...(before.get(first) ?? [])].sort(),
      [...(next.get(run.at(-1) ?? first) ?? [])].sort(),
      run.map((id) => [byId.get(id)?.node_type, byId.get(id)?.handler]),
    ]);
    return [{ nodes: run, kind }];
  });
}
