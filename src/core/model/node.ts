import { z } from "zod";
import type { StateMachine } from "./transitions.ts";
import type { NodeSource } from "./workflow.ts";
import { nodeSources } from "./workflow.ts";

export const nodeStatus = z.enum([
  "pending",
  "ready",
  "dispatched",
  "running",
  "completed",
  "failed",
  "skipped",
  "cancelled",
]);
export type NodeStatus = z.infer<typeof nodeStatus>;

export const nodeType = z.enum(Object.keys(nodeSources) as NodeSource["type"][]);
export type NodeType = z.infer<typeof nodeType>;

const stopped = "the job failed or was cancelled";

/**
 * A node may take several steps in one tick, and only the last state is written: a task whose
 * dependencies are met goes from `pending` to `dispatched`, a failed attempt that is retried goes
 * from `running` to `ready`. The events name every step.
 */
export const nodeMachine: StateMachine<NodeStatus> = {
  name: "node",
  initial: "pending",
  transitions: {
    pending: {
      ready: "dependencies met",
      dispatched: "dependencies met, task queued",
      running: "fan-out expanded",
      completed: "settled by the orchestrator",
      failed: "error before dispatch",
      skipped: "every incoming edge is dead",
      cancelled: stopped,
    },
    ready: {
      dispatched: "task queued",
      running: "fan-out expanded",
      completed: "settled by the orchestrator",
      failed: "error before dispatch",
      skipped: "conditional evaluation",
      cancelled: stopped,
    },
    dispatched: {
      running: "worker started",
      completed: "result arrived",
      failed: "error, no retry left",
      ready: "error, retry",
      cancelled: stopped,
    },
    running: {
      completed: "result arrived",
      failed: "error, no retry left",
      ready: "error, retry",
      cancelled: stopped,
    },
    completed: {},
    failed: { ready: "retry" },
    skipped: {},
    cancelled: {},
  },
};

/** A settled node does not change any more within this run of the job. */
export function isSettled(status: NodeStatus): boolean {
  return (
    status === "completed" || status === "failed" || status === "skipped" || status === "cancelled"
  );
}

export function childNodeId(fanOutId: string, index: number): string {
  return `${fanOutId}__${index}`;
}

/** Returns undefined for a node that is not the child of a fan-out. */
export function parentOfChild(nodeId: string): { node_id: string; index: number } | undefined {
  const at = nodeId.lastIndexOf("__");
  const index = Number(nodeId.slice(at + 2));
  const node_id = nodeId.slice(0, Math.max(0, at));
  return node_id !== "" && childNodeId(node_id, index) === nodeId ? { node_id, index } : undefined;
}

/** Names one attempt. The name is unique for ever, because the attempt number only grows. */
export function taskId(jobId: string, nodeId: string, attempt: number): string {
  return `${jobId}_${nodeId}_${attempt}`;
}
