import type { Node, NodeProps } from "@xyflow/react";
import { Handle, Position } from "@xyflow/react";
import { memo } from "react";
import type { NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import type { NodeStatus, NodeType } from "../../../src/core/model/node.ts";
import { attemptsOf } from "../../../src/core/model/attempts.ts";
import { number } from "../shared/format.ts";
import type { IconName } from "../shared/icon.tsx";
import { Icon } from "../shared/icon.tsx";
import { StateBar, statusLook } from "../shared/status.tsx";
import { duration } from "../shared/time.tsx";
import type { Fold } from "./fold-graph.ts";

/** The library asks for a record. */
export interface FlowNodeData extends Record<string, unknown> {
  readonly planned: WorkflowGraph["nodes"][number];
  readonly node: NodeSummary | undefined;
  readonly vertical: boolean;
  readonly chosen: boolean;
  readonly onChoose: ((nodeId: string) => void) | undefined;
  /** Undefined for a node of its own. */
  readonly fold: Fold | undefined;
  /** The states of the nodes that are folded into this one. */
  readonly hidden: readonly (NodeStatus | undefined)[] | undefined;
}

export type StepNode = Node<FlowNodeData, "step">;

const typeIcon: Readonly<Record<NodeType, IconName>> = {
  start: "dot",
  end: "dot",
  task: "play",
  conditional: "fork",
  fan_out: "stack",
  fan_in: "join",
};

export const FlowNode = memo(function FlowNode({ data }: NodeProps<StepNode>) {
  const { planned, node, vertical, chosen, onChoose } = data;
  if (data.fold !== undefined) return <FoldNode data={data} fold={data.fold} />;
  const isEnd = planned.node_type === "start" || planned.node_type === "end";
  const tone = node === undefined ? "idle" : statusLook[node.status].tone;
  const status = node?.status ?? "planned";
  return (
    <>
      <Handle
        type="target"
        position={vertical ? Position.Top : Position.Left}
        isConnectable={false}
      />
      <button
        type="button"
        className="flow-node nodrag nopan"
        data-tone={tone}
        data-status={status}
        data-type={planned.node_type}
        aria-pressed={chosen}
        onClick={() => onChoose?.(planned.node_id)}
      >
        <span className="flow-node-head">
          <Icon
            name={
              isEnd && node !== undefined
                ? statusLook[node.status].icon
                : typeIcon[planned.node_type]
            }
          />
          <span className="visually-hidden">
            {planned.node_type.replace("_", " ")} {isEnd ? status : ""}{" "}
          </span>
          <span className="ellipsis">{planned.node_id}</span>
          {node === undefined || attemptsOf(node) < 2 ? null : (
            <span className="flow-node-tries" title={`${attemptsOf(node)} attempts`}>
              ×{attemptsOf(node)}
            </span>
          )}
        </span>
        {isEnd ? null : (
          <span className="flow-node-foot">
            {node === undefined ? (
              <span className="ellipsis">
                {planned.handler ?? planned.node_type.replace("_", " ")}
              </span>
            ) : (
              <Foot node={node} handler={planned.handler} />
            )}
          </span>
        )}
        {node?.children == null ? null : <StateBar counts={node.children} />}
      </button>
      <Handle
        type="source"
        position={vertical ? Position.Bottom : Position.Right}
        isConnectable={false}
      />
    </>
  );
});

/** Stands for the middle of a long chain, or for the rest of a row of alike branches; a click shows them. */
function FoldNode({
  data: { planned, vertical, onChoose, hidden = [] },
  fold: { kind },
}: {
  data: FlowNodeData;
  fold: Fold;
}) {
  const known = hidden.filter((status) => status !== undefined);
  const worst = foldOrder.find((status) => known.includes(status));
  return (
    <>
      <Handle
        type="target"
        position={vertical ? Position.Top : Position.Left}
        isConnectable={false}
      />
      <button
        type="button"
        className="flow-node nodrag nopan"
        data-tone={worst === undefined ? "idle" : statusLook[worst].tone}
        data-type="fold"
        onClick={() => onChoose?.(planned.node_id)}
      >
        <span className="flow-node-head">
          <Icon name="plus" />
          <span className="ellipsis">
            {hidden.length} more {kind === "chain" ? "steps" : "of these"}
          </span>
        </span>
        <span className="flow-node-foot">
          {worst === undefined
            ? kind === "chain"
              ? "in one line"
              : "beside each other"
            : `${known.filter((status) => status === worst).length} ${worst}`}
        </span>
      </button>
      <Handle
        type="source"
        position={vertical ? Position.Bottom : Position.Right}
        isConnectable={false}
      />
    </>
  );
}

/** The first state that occurs in a fold is the one that it shows. */
const foldOrder: readonly NodeStatus[] = [
  "failed",
  "running",
  "dispatched",
  "ready",
  "pending",
  "cancelled",
  "completed",
  "skipped",
];

function Foot({ node, handler }: { node: NodeSummary; handler: string | null }) {
  const { icon } = statusLook[node.status];
  return (
    <>
      <span className="flow-node-state">
        <Icon name={icon} />
        {node.status}
      </span>
      <span className="ellipsis">{footText(node, handler)}</span>
    </>
  );
}

function footText(node: NodeSummary, handler: string | null): string {
  const { children, progress } = node;
  if (children !== null) {
    return `${number(children.completed + children.failed)} / ${number(children.total)}`;
  }
  if (node.status === "running" && progress !== null) return `${Math.round(progress.percent)} %`;
  if (node.completed_at !== null && node.started_at !== null) {
    return duration(Date.parse(node.completed_at) - Date.parse(node.started_at));
  }
  if (node.wait_reason?.kind === "retry") return "waits to retry";
  if (node.wait_reason?.kind === "no_worker") return "no worker";
  return handler ?? "";
}
