import { Link } from "wouter";
import type { QueueWait } from "../../../src/core/queue-capacity.ts";
import { number, plural } from "../shared/format.ts";
import type { Status } from "../shared/status.tsx";
import { Chip } from "../shared/status.tsx";

/** Why the messages of a queue wait, in words. */
function waitLook(reason: QueueWait, slots: number): { status: Status; text: string } {
  switch (reason) {
    case "worker":
      return { status: "down", text: "no worker serves it" };
    case "slot":
      return { status: "degraded", text: `all ${plural(slots, "slot")} run a task` };
    case "delay":
      return { status: "retrying", text: "only for later" };
    case "fetch":
      return { status: "ok", text: "a worker takes them now" };
  }
}

export function WhyWaiting({ waits_for, slots }: { waits_for: QueueWait | null; slots: number }) {
  return waits_for === null ? null : <Chip {...waitLook(waits_for, slots)} />;
}

/** The number of waiting tasks, as a link to them. */
export function WaitingTasks({ queue, ready }: { queue: string; ready: number }) {
  return (
    <Link
      to={`/fleet?queue=${encodeURIComponent(queue)}`}
      aria-label={`${number(ready)} waiting tasks of ${queue}`}
    >
      {number(ready)}
    </Link>
  );
}
