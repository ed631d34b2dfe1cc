import type { Edge } from "@xyflow/react";
import { MarkerType } from "@xyflow/react";
import type { NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import type { Arranged } from "./arrange.ts";
import type { Route } from "./layout.ts";
import { edgeId, shorten } from "./layout.ts";

export interface RoutedEdgeData extends Record<string, unknown> {
  readonly route: Route;
  /** The label in full. */
  readonly whole: string | null;
}

export type RoutedEdge = Edge<RoutedEdgeData, "routed">;

/** planned: not decided yet; taken: the job followed the edge; untaken: it will not follow it. */
type EdgeLook = "planned" | "taken" | "untaken";

const colours: Readonly<Record<EdgeLook, string>> = {
  planned: "var(--ink-3)",
  taken: "var(--good-fill)",
  untaken: "var(--line-2)",
};

export function drawEdges(
  { graph, layout }: Arranged,
  byId: ReadonlyMap<string, NodeSummary>,
): RoutedEdge[] {
  return graph.edges.flatMap((edge): RoutedEdge[] => {
    const id = edgeId(edge);
    const route = layout.edges.get(id);
    if (route === undefined) return [];
    const from = graph.folds.get(edge.from)?.hidden.at(-1) ?? edge.from;
    const look = edgeLook(edge, byId.get(from));
    return [
      {
        id,
        type: "routed",
        source: edge.from,
        target: edge.to,
        className: `edge-${look}`,
        focusable: false,
        markerEnd: {
          type: MarkerType.ArrowClosed,
          color: colours[look],
          width: 16,
          height: 16,
          markerUnits: "userSpaceOnUse",
        },
        data: { route, whole: edge.label },
        ...(edge.label === null ? {} : { label: shorten(edge.label) }),
      },
    ];
  });
}

function edgeLook(edge: WorkflowGraph["edges"][number], from: NodeSummary | undefined): EdgeLook {
  if (from?.status === "skipped") return "untaken";
  if (from?.status !== "completed") return "planned";
  if (edge.branches === null || from.branch === null) return "taken";
  return edge.branches.includes(from.branch) ? "taken" : "untaken";
}
