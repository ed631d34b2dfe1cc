import type { CurrentTask, NodeSummary } from "../../core/api/job-schemas.ts";
import type { JobStatus } from "../../core/model/job.ts";
import { isSettled } from "../../core/model/node.ts";
import type { NodeStatus } from "../../core/model/node.ts";

type Tasks = readonly (CurrentTask & { readonly job_id: string })[];

/** Each static node has the same weight; a node that runs counts by its own progress. */
export function summarise(
  job: { readonly job_id: string; readonly status: JobStatus },
  nodes: readonly NodeSummary[],
  tasks: Tasks,
) {
  const of = (...statuses: NodeStatus[]) =>
    nodes.filter(({ status }) => statuses.includes(status)).length;
  const done = nodes.reduce((sum, node) => sum + partOf(node), 0);
  return {
    job_id: job.job_id,
    status: job.status,
    overall_percent: nodes.length === 0 ? 0 : tenths((done / nodes.length) * 100),
    nodes: {
      total: nodes.length,
      completed: of("completed"),
      running: of("running"),
      pending: of("pending", "ready", "dispatched"),
      failed: of("failed"),
      skipped: of("skipped"),
      cancelled: of("cancelled"),
    },
    current_tasks: tasks.map(({ job_id: _jobId, ...task }) => task),
    fan_outs: nodes.flatMap((node) => {
      if (node.children === null) return [];
      const { total, completed, failed, running } = node.children;
      return [
        { node_id: node.node_id, total, completed, failed, running, percent: percentOf(node) },
      ];
    }),
  };
}

export function percentOf(node: NodeSummary): number {
  return tenths(partOf(node) * 100);
}

function partOf({ status, children, progress }: NodeSummary): number {
  if (status === "completed" || status === "skipped") return 1;
  if (isSettled(status)) return 0;
  if (children !== null) {
    const { total, completed, failed, skipped, cancelled } = children;
    return total === 0 ? 0 : (completed + failed + skipped + cancelled) / total;
  }
  return Math.min(1, Math.max(0, (progress?.percent ?? 0) / 100));
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
