import type { EdgeProps } from "@xyflow/react";
import { BaseEdge, EdgeLabelRenderer } from "@xyflow/react";
import type { RoutedEdge } from "./draw-edges.ts";
import { routePath } from "./route-path.ts";

/** An edge along the route of the layout, which has kept room for the label beside it. */
export function FlowEdge({ label, data, markerEnd }: EdgeProps<RoutedEdge>) {
  if (data === undefined) return null;
  const { route, whole } = data;
  return (
    <>
      <BaseEdge
        path={routePath(route.points)}
        {...(markerEnd === undefined ? {} : { markerEnd })}
      />
      {route.label === undefined ? null : (
        <EdgeLabelRenderer>
          <span
            className="flow-label"
            title={whole ?? undefined}
            style={{ transform: `translate(${route.label.x}px, ${route.label.y}px)` }}
          >
            {label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
}
