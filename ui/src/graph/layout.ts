/** Lays out a graph with ELK in a web worker, so that the page stays responsive. */
import type { ElkNode } from "elkjs/lib/elk-api.js";
import ELK from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import type { Rectangle, Size } from "./choose-view.ts";
import type { Point } from "./route-path.ts";

/** The edges lead to the right, or down, or to the right in several lines as text does. */
export type Shape = "right" | "down" | "lines";

export interface Layout extends Size {
  readonly nodes: ReadonlyMap<string, Rectangle>;
  readonly edges: ReadonlyMap<string, Route>;
}

export interface Route {
  readonly points: readonly Point[];
  /** The upper left corner of the label. */
  readonly label: Point | undefined;
}

export const stepSize: Size = { width: 196, height: 58 };
/** They say little, so they take little room. */
const endSize: Size = { width: 116, height: 34 };

function sizeOf({ node_type }: WorkflowGraph["nodes"][number]): Size {
  return node_type === "start" || node_type === "end" ? endSize : stepSize;
}

/** The room that a label takes, at the size of its text in graph.css. */
function labelSize(text: string): Size {
  return { width: text.length * 7 + 12, height: 18 };
}

export const edgeId = ({ from, to }: { readonly from: string; readonly to: string }) =>
  `${from}>${to}`;

interface LayoutWorker {
  readonly elk: InstanceType<typeof ELK>;
  /** Rejects if the file of the worker cannot be loaded: ELK would wait for its answer without end. */
  readonly lost: Promise<never>;
}

let started: LayoutWorker | undefined;

function startWorker(): LayoutWorker {
  let reject: (reason: Error) => void = () => undefined;
  const lost = new Promise<never>((_, rejected) => {
    reject = rejected;
  });
  lost.catch(() => {
    started = undefined;
  });
  const elk = new ELK({
    workerUrl,
    workerFactory: (url = workerUrl) => {
      const worker = new Worker(url);
      worker.addEventListener("error", () => {
        reject(new Error("the layout worker could not be loaded"));
      });
      return worker;
    },
  });
  return { elk, lost };
}

function optionsOf(shape: Shape, box: Size): Record<string, string> {
  switch (shape) {
    case "right":
      return { "elk.direction": "RIGHT", "elk.layered.spacing.nodeNodeBetweenLayers": "44" };
    case "down":
      return { "elk.direction": "DOWN", "elk.layered.spacing.nodeNodeBetweenLayers": "28" };
    case "lines":
      return {
        "elk.direction": "RIGHT",
        "elk.layered.spacing.nodeNodeBetweenLayers": "36",
        "elk.layered.wrapping.strategy": "MULTI_EDGE",
        // Without it, the lines are shorter than the box is wide.
        "elk.layered.wrapping.correctionFactor": "1.6",
        "elk.aspectRatio": String(box.width / box.height),
      };
  }
}

export async function layOut(graph: WorkflowGraph, shape: Shape, box: Size): Promise<Layout> {
  started ??= startWorker();
  const { elk, lost } = started;
  const drawn = elk.layout({
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.padding": "[top=4,left=4,bottom=12,right=12]",
      "elk.spacing.nodeNode": "22",
      "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
      "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      "elk.edgeLabels.inline": "false",
      "elk.spacing.edgeLabel": "4",
      ...optionsOf(shape, box),
    },
    children: graph.nodes.map((node) => ({ id: node.node_id, ...sizeOf(node) })),
    edges: graph.edges.map((edge) => ({
      id: edgeId(edge),
      sources: [edge.from],
      targets: [edge.to],
      labels:
        edge.label === null
          ? []
          : [{ text: shorten(edge.label), ...labelSize(shorten(edge.label)) }],
    })),
  });
  return readLayout(await Promise.race([drawn, lost]));
}

function readLayout({ children = [], edges = [], width = 0, height = 0 }: ElkNode): Layout {
  return {
    width,
    height,
    nodes: new Map(
      children.map(({ id, x = 0, y = 0, width: w = 0, height: h = 0 }) => [
        id,
        { x, y, width: w, height: h },
      ]),
    ),
    edges: new Map(
      edges.map(({ id, sections = [], labels = [] }) => {
        const points = sections.flatMap((section) => [
          section.startPoint,
          ...(section.bendPoints ?? []),
          section.endPoint,
        ]);
        const [label] = labels;
        const at = label === undefined ? undefined : { x: label.x ?? 0, y: label.y ?? 0 };
        return [id, { points, label: at }];
      }),
    ),
  };
}

/** Conditions may be long; the definition shows them in full. */
export function shorten(label: string): string {
  return label.length > 26 ? `${label.slice(0, 25)}…` : label;
}
