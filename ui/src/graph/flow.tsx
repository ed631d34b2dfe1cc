import "@xyflow/react/dist/base.css";
import type { ReactFlowInstance } from "@xyflow/react";
import { Background, ControlButton, Controls, MiniMap, ReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import { Icon } from "../shared/icon.tsx";
import { Loading } from "../shared/states.tsx";
import { statusLook } from "../shared/status.tsx";
import type { Arranged } from "./arrange.ts";
import type { Rectangle, Size } from "./choose-view.ts";
import { chooseView, isInView } from "./choose-view.ts";
import { drawEdges } from "./draw-edges.ts";
import { FlowEdge } from "./flow-edge.tsx";
import type { StepNode } from "./flow-node.tsx";
import { FlowNode } from "./flow-node.tsx";
import { foldGraph } from "./fold-graph.ts";
import { useArranged } from "./use-arranged.ts";

const nodeTypes = { step: FlowNode };
const edgeTypes = { routed: FlowEdge };

export interface FlowProps {
  readonly graph: WorkflowGraph;
  /** The nodes of a job; without them the graph shows the definition only. */
  readonly nodes?: readonly NodeSummary[] | undefined;
  readonly chosen?: string | undefined;
  readonly onChoose?: ((nodeId: string) => void) | undefined;
}

const none: ReadonlySet<string> = new Set();

export default function Flow({ graph: whole, nodes, chosen, onChoose }: FlowProps) {
  const [open, setOpen] = useState(none);
  const byId = useMemo(() => new Map(nodes?.map((node) => [node.node_id, node])), [nodes]);
  const folded = useMemo(() => foldGraph(whole, open), [whole, open]);
  // A view that the user has chosen stays, also when the panel of a node opens.
  const moved = useRef(false);
  const { box, size, arranged } = useArranged({ whole, folded }, moved);
  const [instance, setInstance] = useState<ReactFlowInstance<StepNode>>();
  const [isWhole, setIsWhole] = useState(true);
  const focus = arranged === undefined ? undefined : focusOf(arranged, chosen, byId);
  const focusNow = useRef(focus);
  focusNow.current = focus;

  // No fold hides the chosen node.
  useEffect(() => {
    for (const [id, { hidden }] of folded.folds) {
      if (chosen !== undefined && hidden.includes(chosen)) setOpen((all) => new Set([...all, id]));
    }
  }, [folded, chosen]);
  useEffect(() => {
    moved.current = false;
  }, [arranged]);
  useEffect(() => {
    const seen = focusNow.current;
    if (instance === undefined || arranged === undefined || size === undefined) return;
    if (seen === undefined || moved.current) return;
    void instance.setViewport(chooseView(arranged.layout, size, seen));
  }, [instance, arranged, size]);
  // The chosen node never is out of view.
  useEffect(() => {
    const seen = focusNow.current;
    if (instance === undefined || size === undefined || seen === undefined) return;
    if (chosen === undefined || isInView(instance.getViewport(), size, seen)) return;
    const { x, y, width, height } = seen;
    const zoom = instance.getZoom();
    void instance.setCenter(x + width / 2, y + height / 2, { zoom });
  }, [instance, chosen, size]);

  const flowNodes = useMemo(() => {
    function unfold(id: string): void {
      setOpen((before) => new Set([...before, id]));
    }
    return (arranged?.graph.nodes ?? []).map((planned): StepNode => {
      const id = planned.node_id;
      const fold = arranged?.graph.folds.get(id);
      const { x = 0, y = 0, width = 0, height = 0 } = arranged?.layout.nodes.get(id) ?? {};
      return {
        id,
        type: "step",
        position: { x, y },
        width,
        height,
        draggable: false,
        focusable: false,
        data: {
          planned,
          node: byId.get(id),
          vertical: arranged?.shape === "down",
          chosen: chosen === id,
          onChoose: fold === undefined ? onChoose : unfold,
          fold,
          hidden: fold?.hidden.map((each) => byId.get(each)?.status),
        },
      };
    });
  }, [arranged, byId, chosen, onChoose]);
  const flowEdges = useMemo(
    () => (arranged === undefined ? [] : drawEdges(arranged, byId)),
    [arranged, byId],
  );

  return (
    <div ref={box} className="flow" data-laid={arranged === undefined ? undefined : ""}>
      {arranged === undefined || size === undefined || focus === undefined ? (
        <Loading what="the graph" />
      ) : (
        <ReactFlow
          nodes={flowNodes}
          edges={flowEdges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          defaultViewport={chooseView(arranged.layout, size, focus)}
          onInit={setInstance}
          onMoveStart={(event) => {
            if (event !== null) moved.current = true;
          }}
          onMove={(_event, view) => {
            setIsWhole(isInView(view, size, { x: 0, y: 0, ...sizeOf(arranged) }));
          }}
          minZoom={0.1}
          maxZoom={2}
          nodesConnectable={false}
          nodesDraggable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          onlyRenderVisibleElements={arranged.graph.nodes.length > 150}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={22} size={1} />
          <Controls showInteractive={false}>
            {open.size === 0 ? null : (
              <ControlButton
                title="Fold again"
                aria-label="Fold again"
                onClick={() => {
                  setOpen(none);
                }}
              >
                <Icon name="stack" />
              </ControlButton>
            )}
          </Controls>
          {isWhole ? null : (
            <MiniMap
              pannable
              zoomable
              style={mapSize(size)}
              ariaLabel="The whole graph"
              nodeColor={({ data: { node } }: StepNode) =>
                node === undefined ? "var(--line-2)" : `var(--${statusLook[node.status].tone}-fill)`
              }
            />
          )}
        </ReactFlow>
      )}
    </div>
  );
}

/** The chosen node, else one that failed or runs, else the first. */
function focusOf(
  { graph, layout }: Arranged,
  chosen: string | undefined,
  byId: ReadonlyMap<string, NodeSummary>,
): Rectangle | undefined {
  const withStatus = (...wanted: readonly string[]) =>
    graph.nodes.find(({ node_id }) => wanted.includes(byId.get(node_id)?.status ?? ""))?.node_id;
  const found =
    chosen !== undefined && layout.nodes.has(chosen)
      ? chosen
      : (withStatus("failed") ?? withStatus("running", "dispatched") ?? graph.nodes[0]?.node_id);
  return found === undefined ? undefined : layout.nodes.get(found);
}

/** The map covers a part of the graph: in a narrow box it is smaller. */
function mapSize({ width }: Size): Size {
  if (width < 500) return { width: 110, height: 84 };
  return width < 900 ? { width: 140, height: 104 } : { width: 200, height: 150 };
}

function sizeOf({ layout: { width, height } }: Arranged): Size {
  return { width, height };
}
