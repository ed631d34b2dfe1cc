/** Lays out a graph with ELK in a web worker, so that the page stays responsive. */
import type { ElkNode } from "elkjs/lib/elk-api.js";
import ELK from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";

export type Direction = "RIGHT" | "DOWN";
export type Positions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

export const nodeWidth = 196;
export const nodeHeight = 58;

/** Chooses the direction that shows the graph larger, by its number of layers and the widest one. */
export function chooseDirection(graph: WorkflowGraph, width: number, height: number): Direction {
  const depth = new Map<string, number>();
  // The nodes are in topological order, so one pass is enough.
  for (const { node_id } of graph.nodes) {
    const before = graph.edges.filter(({ to }) => to === node_id);
    depth.set(node_id, Math.max(0, ...before.map(({ from }) => (depth.get(from) ?? 0) + 1)));
  }
  const layers = Math.max(0, ...depth.values()) + 1;
  const sizes = new Map<number, number>();
  for (const layer of depth.values()) sizes.set(layer, (sizes.get(layer) ?? 0) + 1);
  const across = Math.max(1, ...sizes.values());
  const right = Math.min(
    width / (layers * (nodeWidth + 64)),
    height / (across * (nodeHeight + 22)),
  );
  const down = Math.min(width / (across * (nodeWidth + 22)), height / (layers * (nodeHeight + 48)));
  return Math.min(down, 1) > Math.min(right, 1) * 1.15 ? "DOWN" : "RIGHT";
}

let elk: InstanceType<typeof ELK> | undefined;

export async function layOut(graph: WorkflowGraph, direction: Direction): Promise<Positions> {
  elk ??= new ELK({ workerUrl });
  const laid: ElkNode = await elk.layout({
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": direction,
      "elk.layered.spacing.nodeNodeBetweenLayers": direction === "RIGHT" ? "64" : "48",
      "elk.spacing.nodeNode": "22",
      "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
      "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
    },
    children: graph.nodes.map(({ node_id }) => ({
      id: node_id,
      width: nodeWidth,
      height: nodeHeight,
    })),
    edges: graph.edges.map(({ from, to }) => ({
      id: `${from}>${to}`,
      sources: [from],
      targets: [to],
    })),
  });
  return new Map((laid.children ?? []).map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}
