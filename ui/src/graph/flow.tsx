import "@xyflow/react/dist/base.css";
import type { Edge, Node } from "@xyflow/react";
import { Background, Controls, MarkerType, ReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import { Loading } from "../shared/states.tsx";
import type { FlowNodeData } from "./flow-node.tsx";
import { FlowNode } from "./flow-node.tsx";
import type { Positions } from "./layout.ts";
import { chooseDirection, layOut, nodeHeight, nodeWidth } from "./layout.ts";

const nodeTypes = { step: FlowNode };

export interface FlowProps {
  readonly graph: WorkflowGraph;
  /** The nodes of a job; without them the graph shows the definition only. */
  readonly nodes?: readonly NodeSummary[] | undefined;
  readonly chosen?: string | undefined;
  readonly onChoose?: ((nodeId: string) => void) | undefined;
}

/** Conditions may be long and would cover other edges; the definition shows them in full. */
function shorten(label: string): string {
  return label.length > 26 ? `${label.slice(0, 25)}…` : label;
}

export default function Flow({ graph, nodes, chosen, onChoose }: FlowProps) {
  const box = useRef<HTMLDivElement>(null);
  const [vertical, setVertical] = useState(false);
  const [laid, setLaid] = useState<{ graph: WorkflowGraph; positions: Positions }>();

  useEffect(() => {
    let current = true;
    const { clientWidth = 1000, clientHeight = 500 } = box.current ?? {};
    const direction = chooseDirection(graph, clientWidth, clientHeight);
    setVertical(direction === "DOWN");
    void layOut(graph, direction).then((positions) => {
      if (current) setLaid({ graph, positions });
    });
    return () => {
      current = false;
    };
  }, [graph]);

  const byId = useMemo(() => new Map(nodes?.map((node) => [node.node_id, node])), [nodes]);
  const positions = laid?.graph === graph ? laid.positions : undefined;

  const flowNodes = useMemo(
    () =>
      graph.nodes.map((planned): Node<FlowNodeData, "step"> => {
        const id = planned.node_id;
        return {
          id,
          type: "step",
          position: positions?.get(id) ?? { x: 0, y: 0 },
          width: nodeWidth,
          height: nodeHeight,
          draggable: false,
          focusable: false,
          data: { planned, node: byId.get(id), vertical, chosen: chosen === id, onChoose },
        };
      }),
    [graph, positions, byId, vertical, chosen, onChoose],
  );
  const flowEdges = useMemo(
    () =>
      graph.edges.map((edge): Edge => {
        const look = nodes === undefined ? "taken" : edgeLook(edge, byId.get(edge.from));
        return {
          id: `${edge.from}>${edge.to}`,
          source: edge.from,
          target: edge.to,
          className: `edge-${look}`,
          focusable: false,
          markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
          ...(edge.label === null ? {} : { label: shorten(edge.label) }),
        };
      }),
    [graph, nodes, byId],
  );

  return (
    <div ref={box} className="flow" data-laid={positions === undefined ? undefined : ""}>
      {positions === undefined ? (
        <Loading what="the graph" />
      ) : (
        <ReactFlow
          nodes={flowNodes}
          edges={flowEdges}
          nodeTypes={nodeTypes}
          fitView
          fitViewOptions={{ padding: 0.12, maxZoom: 1.1, minZoom: 0.4 }}
          minZoom={0.1}
          maxZoom={2}
          nodesConnectable={false}
          nodesDraggable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          zoomOnScroll={false}
          preventScrolling={false}
          panOnScroll={false}
          onlyRenderVisibleElements={graph.nodes.length > 150}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={22} size={1} />
          <Controls showInteractive={false} />
        </ReactFlow>
      )}
    </div>
  );
}

/** planned: not decided yet; taken: the job followed the edge; untaken: it will not follow it. */
type EdgeLook = "planned" | "taken" | "untaken";

function edgeLook(edge: WorkflowGraph["edges"][number], from: NodeSummary | undefined): EdgeLook {
  if (from?.status === "skipped") return "untaken";
  if (from?.status !== "completed") return "planned";
  if (edge.branches === null || from.branch === null) return "taken";
  return edge.branches.includes(from.branch) ? "taken" : "untaken";
}
