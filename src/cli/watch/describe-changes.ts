import type { NodeSummary } from "../../core/api/job-schemas.ts";
import { glyph } from "../style.ts";
import { between } from "../time.ts";
import { describeNode } from "./describe-node.ts";
import type { JobView } from "./job-view.ts";

/** For logs and pipes: a line for each node that is elsewhere than it was, none for what stays. */
export function describeChanges(before: JobView | undefined, after: JobView, now: Date): string[] {
  const lines: string[] = [];
  for (const [id, node] of after.nodes) {
    if (node.node_type === "start" || node.node_type === "end") continue;
    const earlier = before?.nodes.get(id);
    if (earlier === undefined ? node.status === "pending" : mark(earlier) === mark(node)) continue;
    const took = between(node.started_at ?? node.dispatched_at, node.completed_at, now);
    const detail = describeNode(node, now);
    const time = node.completed_at === null || took === null ? "" : `  ${took}`;
    lines.push(
      `${glyph(node.status)} ${id}  ${node.status}${time}${detail === "" ? "" : `  ${detail}`}`,
    );
  }
  if (before?.status !== after.status || before.paused !== after.paused) {
    const state = after.paused ? `${after.status}, paused` : after.status;
    lines.push(`${glyph(after.status)} job ${after.job.job_id}  ${state}`);
  }
  return lines;
}

/** Two nodes with the same mark are worth one line. Fan-outs and progress count in tenths. */
function mark({ status, attempt, children, progress }: NodeSummary): string {
  const settled =
    children === null || children.total === 0
      ? 0
      : (children.completed + children.failed + children.cancelled) / children.total;
  const told = status === "running" ? (progress?.percent ?? 0) / 100 : 0;
  return `${status} ${attempt} ${Math.floor(settled * 10)} ${Math.floor(told * 10)}`;
}
