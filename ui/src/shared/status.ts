import type { NodeStatus } from "../../../src/core/model/node.ts";
import type { JobStatus } from "../../../src/core/model/job.ts";
import type { IconName } from "./icon.tsx";

/** Every state that is shown as a chip: of jobs, nodes, approvals, deliveries and health. */
export type Status =
  | JobStatus
  | NodeStatus
  | "paused"
  | "retrying"
  | "ok"
  | "degraded"
  | "down"
  | "approved"
  | "rejected"
  | "review";

/** Shape, word and colour: never the colour alone. */
export const statusLook: Readonly<Record<Status, { icon: IconName; tone: Tone }>> = {
  pending: { icon: "clock", tone: "idle" },
  ready: { icon: "dot", tone: "wait" },
  dispatched: { icon: "queue", tone: "wait" },
  running: { icon: "play", tone: "busy" },
  completed: { icon: "check", tone: "good" },
  failed: { icon: "cross", tone: "bad" },
  skipped: { icon: "skip", tone: "idle" },
  cancelled: { icon: "ban", tone: "stop" },
  paused: { icon: "pause", tone: "wait" },
  retrying: { icon: "retry", tone: "wait" },
  ok: { icon: "check", tone: "good" },
  degraded: { icon: "warning", tone: "wait" },
  down: { icon: "cross", tone: "bad" },
  approved: { icon: "check", tone: "good" },
  rejected: { icon: "cross", tone: "bad" },
  review: { icon: "eye", tone: "wait" },
};

export type Tone = "good" | "bad" | "busy" | "wait" | "idle" | "stop";

export const nodeOrder = [
  "failed",
  "running",
  "dispatched",
  "ready",
  "pending",
  "completed",
  "skipped",
  "cancelled",
] as const satisfies readonly NodeStatus[];
