/** Where the nodes of a graph stand. Computed by ELK in a worker of its own, so that no page waits. */
import type { ElkNode } from "elkjs/lib/elk-api.js";
import ELK from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";

export type Direction = "RIGHT" | "DOWN";
export type Positions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

export const nodeWidth = 196;
export const nodeHeight = 58;

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
