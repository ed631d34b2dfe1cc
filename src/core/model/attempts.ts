/** Attempts of a node as people count them: the first is 1. */
import type { NodeStatus } from "./node.ts";

/** The number of an attempt, from the id of its task: `{job}_{node}_{attempt}`, from zero. */
export function attemptNumber(taskId: string): number {
  return Number(taskId.slice(taskId.lastIndexOf("_") + 1)) + 1;
}

/** How often a worker was asked to run the node; while it waits for a retry, not the next time. */
export function attemptsOf({ task_id }: { readonly task_id: string | null }): number {
  return task_id === null ? 0 : attemptNumber(task_id);
}

/** The worker that runs or ran the newest attempt; while that waits in a queue, the one before is no answer. */
export function workerOf({
  status,
  worker_id,
}: {
  readonly status: NodeStatus;
  readonly worker_id: string | null;
}): string | null {
  const isWaiting = status === "dispatched" || status === "ready" || status === "pending";
  return isWaiting ? null : worker_id;
}
