import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";

export interface LineageThing {
  readonly kind: "file" | "table" | "item" | "version" | "job";
  readonly id: string;
}

interface Traced {
  readonly nodes: readonly (LineageThing & { readonly distance: number })[];
  readonly edges: readonly {
    readonly from: LineageThing;
    readonly to: LineageThing;
    readonly relation: string;
  }[];
}

/**
 * Lineage in the form that graphs of workflows have, so that the same drawing shows it. The label of
 * a thing is its last name, or all of it where two things would have the same label.
 */
export function lineageGraph({ nodes, edges }: Traced): {
  readonly graph: WorkflowGraph;
  readonly things: ReadonlyMap<string, LineageThing>;
} {
  const keyOf = ({ kind, id }: LineageThing) => `${kind} ${id}`;
  const times = new Map<string, number>();
  for (const node of nodes) times.set(lastName(node), (times.get(lastName(node)) ?? 0) + 1);
  const labels = new Map(
    nodes.map((node) => [
      keyOf(node),
      times.get(lastName(node)) === 1 ? lastName(node) : `${node.kind} ${node.id}`,
    ]),
  );
  const labelOf = (thing: LineageThing) => labels.get(keyOf(thing)) ?? keyOf(thing);
  return {
    graph: {
      nodes: nodes.map((node) => ({
        node_id: labelOf(node),
        node_type: "task",
        name: node.id,
        join: "all_of",
        handler: node.kind,
        queue: null,
      })),
      edges: edges.map(({ from, to, relation }) => ({
        from: labelOf(from),
        to: labelOf(to),
        label: relation.replaceAll("_", " "),
        branches: null,
      })),
    },
    things: new Map(nodes.map((node) => [labelOf(node), { kind: node.kind, id: node.id }])),
  };
}

function lastName({ kind, id }: LineageThing): string {
  if (kind === "version") return id.replace("/", " v");
  return id.slice(id.lastIndexOf("/") + 1);
}
