import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import type { Size } from "./choose-view.ts";
import { fitZoom, readable, suits } from "./choose-view.ts";
import type { FoldedGraph } from "./fold-graph.ts";
import { unfolded } from "./fold-graph.ts";
import type { Layout, Shape } from "./layout.ts";
import { layOut, stepSize } from "./layout.ts";

export interface Arranged {
  readonly graph: FoldedGraph;
  readonly shape: Shape;
  readonly layout: Layout;
}

/** In the order of preference. */
const shapes: readonly Shape[] = ["right", "down", "lines"];
/** With more nodes a second layout would make the page wait. */
const mostShapes = 200;

/** Arranges the graph so that its text can be read; folded only if that is not possible otherwise. */
export async function arrange(
  whole: WorkflowGraph,
  folded: FoldedGraph,
  box: Size,
): Promise<Arranged> {
  const readableWhole = await arrangeReadable(unfolded(whole), box);
  if (readableWhole !== undefined) return readableWhole;
  return (await arrangeReadable(folded, box)) ?? arrangeLarge(folded, box);
}

/** The first shape that shows the whole graph large enough. Each layout takes time, so a hopeless one is left out. */
async function arrangeReadable(graph: FoldedGraph, box: Size): Promise<Arranged | undefined> {
  for (const shape of shapes) {
    if (fitZoom(smallestSize(graph, shape, box), box) < readable) continue;
    const layout = await layOut(graph, shape, box);
    if (fitZoom(layout, box) >= readable) return { graph, shape, layout };
  }
  return undefined;
}

/** For a graph that is too large: the shape of which a person sees most. */
async function arrangeLarge(graph: FoldedGraph, box: Size): Promise<Arranged> {
  const tried: readonly Shape[] = graph.nodes.length > mostShapes ? ["down"] : ["down", "right"];
  const all = await Promise.all(
    tried.map(async (shape) => ({ graph, shape, layout: await layOut(graph, shape, box) })),
  );
  return all.reduce((best, each) =>
    suits(each.layout, box) > suits(best.layout, box) ? each : best,
  );
}

/** No layout of the graph is smaller: its layers one after the other, and the nodes of the widest one. */
function smallestSize({ nodes, edges }: WorkflowGraph, shape: Shape, box: Size): Size {
  const depth = new Map<string, number>();
  // The nodes are in topological order, so one pass is enough.
  for (const { node_id } of nodes) {
    const before = edges.filter(({ to }) => to === node_id);
    depth.set(node_id, Math.max(0, ...before.map(({ from }) => (depth.get(from) ?? 0) + 1)));
  }
  const layers = Math.max(0, ...depth.values()) + 1;
  const sizes = new Map<number, number>();
  for (const layer of depth.values()) sizes.set(layer, (sizes.get(layer) ?? 0) + 1);
  const across = Math.max(1, ...sizes.values());
  const { width, height } = stepSize;
  if (shape === "right") return { width: layers * width, height: across * height };
  if (shape === "down") return { width: across * width, height: layers * height };
  const lines = Math.ceil((layers * width * readable) / box.width);
  return { width, height: Math.max(across, lines) * height };
}
