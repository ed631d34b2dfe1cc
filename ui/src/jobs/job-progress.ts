/** How far a job is, from the states of its nodes. */
import type { Histogram, Job, NodeSummary } from "../../../src/core/api/job-schemas.ts";
import type { JobStatus } from "../../../src/core/model/job.ts";
import { isFinished } from "../../../src/core/model/job.ts";

/** All nodes of a job by state; a fan-out counts as its children. */
export function countNodes({ nodes }: Pick<Job, "nodes">): Histogram {
  const sum = {
    total: 0,
    pending: 0,
    ready: 0,
    dispatched: 0,
    running: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };
  for (const { status, children } of nodes) {
    if (children === null || children.total === 0) {
      sum[status] += 1;
      sum.total += 1;
      continue;
    }
    for (const key of Object.keys(sum) as (keyof Histogram)[]) sum[key] += children[key];
  }
  return sum;
}

/** Nodes that came to an end of their own. The end of the job cancels the others: they did nothing. */
export function settledNodes({ completed, failed, skipped }: Histogram): number {
  return completed + failed + skipped;
}

/** A share of a job that failed or was cancelled says nothing: it will never be complete. */
export function progressShare(status: Job["status"], counts: Histogram): number | undefined {
  if (status === "failed" || status === "cancelled") return undefined;
  return counts.total === 0 ? 0 : settledNodes(counts) / counts.total;
}

export interface TimeLeft {
  readonly node_id: string;
  readonly ms: number;
}

/** Fewer children say too little about how long one takes. */
const fewestChildren = 10;

/**
 * How long the running fan-out with the most work left still takes, at the rate of its children so
 * far, which run since the nodes before it ended (`ready`). Its children do the same work. Nothing is said about other nodes: how many of them are settled
 * does not tell how long the rest takes.
 */
export function timeLeft(
  nodes: readonly NodeSummary[],
  ready: ReadonlyMap<string, number>,
  now: number,
): TimeLeft | undefined {
  const found = nodes.flatMap(({ children, status, node_id }): TimeLeft[] => {
    if (status !== "running" || children === null) return [];
    const settled = settledNodes(children);
    const from = ready.get(node_id);
    if (settled < fewestChildren || settled < children.total / 10 || from === undefined) return [];
    const ms = ((now - from) / settled) * (children.total - settled);
    return ms > 0 ? [{ node_id, ms }] : [];
  });
  return found.sort((a, b) => b.ms - a.ms)[0];
}

/** Names what failed. An open job has an error while its orchestrator cannot settle it. */
export function failureTitle(status: JobStatus, nodeId: string | null): string {
  if (nodeId !== null) return `${nodeId} failed`;
  return isFinished(status) ? "The job failed" : "The job cannot go on for now";
}
