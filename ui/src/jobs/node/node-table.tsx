import { useMemo, useState } from "react";
import type { CurrentTask, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import { number } from "../../shared/format.ts";
import { Chip, StateBar } from "../../shared/status.tsx";
import { TableBox } from "../../shared/table.tsx";
import { Elapsed, Time } from "../../shared/time.tsx";
import { attemptsOf, workerOf } from "../../../../src/core/model/attempts.ts";
import { waitText } from "./wait-text.ts";

export function NodeTable({
  nodes,
  tasks,
  chosen,
  onChoose,
}: {
  nodes: readonly NodeSummary[];
  tasks: ReadonlyMap<string, CurrentTask>;
  chosen: string | undefined;
  onChoose: (nodeId: string) => void;
}) {
  const [text, setText] = useState("");
  const shown = useMemo(
    () =>
      nodes.filter((node) =>
        `${node.node_id} ${node.status} ${node.handler ?? ""}`.includes(text.trim().toLowerCase()),
      ),
    [nodes, text],
  );
  return (
    <>
      <div className="gantt-tools">
        <input
          aria-label="Filter nodes"
          placeholder="Filter by name, state or handler"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <span>{number(shown.length)} nodes</span>
      </div>
      <div className="scroll-x">
        <TableBox>
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th>Handler</th>
              <th>Worker</th>
              <th className="num">Attempts</th>
              <th>Started</th>
              <th className="num">Took</th>
              <th>Details</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((node) => (
              <tr key={node.node_id} data-selected={chosen === node.node_id ? "" : undefined}>
                <td>
                  <button
                    className="link"
                    onClick={() => {
                      onChoose(node.node_id);
                    }}
                  >
                    {node.node_id}
                  </button>
                </td>
                <td data-label="State">
                  <Chip status={node.status} />
                </td>
                <td data-label="Handler">
                  <code>{node.handler ?? node.node_type}</code>
                </td>
                <td data-label="Worker">{workerOf(node) ?? "–"}</td>
                <td data-label="Attempts" className="num">
                  {attemptsOf(node)}
                </td>
                <td data-label="Started">
                  <Time at={node.started_at} />
                </td>
                <td data-label="Took" className="num">
                  <Elapsed from={node.started_at} to={node.completed_at} />
                </td>
                <td data-label="Details">
                  <Details node={node} task={tasks.get(node.node_id)} />
                </td>
              </tr>
            ))}
          </tbody>
        </TableBox>
      </div>
    </>
  );
}

function Details({ node, task }: { node: NodeSummary; task: CurrentTask | undefined }) {
  if (node.children !== null) {
    return (
      <span className="stack">
        {number(node.children.completed)} of {number(node.children.total)} completed
        <StateBar counts={node.children} />
      </span>
    );
  }
  if (node.error !== null) return <span className="error-text">{node.error.message}</span>;
  if (task?.progress_percent != null) {
    return `${Math.round(task.progress_percent)} % ${task.progress_message ?? ""}`;
  }
  return node.wait_reason === null ? null : (
    <span className="dim">{waitText(node.wait_reason)}</span>
  );
}
