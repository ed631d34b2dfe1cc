import type { Histogram, Job } from "../../../src/core/api/job-schemas.ts";

/** All nodes of a job by state, the children of its fan-outs counted one by one. */
export function countNodes({ nodes }: Pick<Job, "nodes">): Histogram {
  const sum = {
    ...{ total: 0, pending: 0, ready: 0, dispatched: 0, running: 0 },
    ...{ completed: 0, failed: 0, skipped: 0, cancelled: 0 },
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
