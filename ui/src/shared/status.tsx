/** States of jobs, nodes, versions and services: always a shape and a word, never the colour alone. */
import type { ReactNode } from "react";
import type { Histogram } from "../../../src/core/api/job-schemas.ts";
import type { JobStatus } from "../../../src/core/model/job.ts";
import type { NodeStatus } from "../../../src/core/model/node.ts";
import { number } from "./format.ts";
import type { IconName } from "./icon.tsx";
import { Icon } from "./icon.tsx";

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
  | "review"
  | "never"
  | "current"
  | "stale"
  | "unknown";

export type Tone = "good" | "bad" | "busy" | "wait" | "idle" | "stop";

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
  never: { icon: "clock", tone: "idle" },
  current: { icon: "check", tone: "good" },
  stale: { icon: "warning", tone: "wait" },
  unknown: { icon: "dot", tone: "idle" },
};

export function Chip({ status, text }: { status: Status; text?: string | undefined }) {
  const { icon, tone } = statusLook[status];
  return (
    <span className="chip" data-tone={tone} data-status={status}>
      <Icon name={icon} />
      {text ?? status.replaceAll("_", " ")}
    </span>
  );
}

export function Badge({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span className="badge" title={title}>
      {children}
    </span>
  );
}

const barOrder = [
  "completed",
  "skipped",
  "failed",
  "cancelled",
  "running",
  "dispatched",
  "ready",
  "pending",
] as const satisfies readonly NodeStatus[];

const listOrder = [
  "failed",
  "running",
  "dispatched",
  "ready",
  "pending",
  "completed",
  "skipped",
  "cancelled",
] as const satisfies readonly NodeStatus[];

/** Nodes by state as one stacked bar; its label says the same in words. */
export function StateBar({ counts }: { counts: Histogram }) {
  const parts = nonZero(counts, barOrder);
  const label = parts.map(([status, count]) => `${number(count)} ${status}`).join(", ");
  return (
    <span className="state-bar" role="img" aria-label={label} title={label}>
      {parts.map(([status, count]) => (
        <span key={status} data-tone={statusLook[status].tone} style={{ flexGrow: count }} />
      ))}
    </span>
  );
}

/** The states that occur, those that need a look first. */
export function countsInOrder(counts: Histogram): [NodeStatus, number][] {
  return nonZero(counts, listOrder);
}

function nonZero(counts: Histogram, order: readonly NodeStatus[]): [NodeStatus, number][] {
  return order
    .map((status): [NodeStatus, number] => [status, counts[status]])
    .filter(([, count]) => count > 0);
}
