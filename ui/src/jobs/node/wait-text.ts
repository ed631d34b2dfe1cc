import type { WaitReason } from "../../../../src/core/dag/evaluate/wait-reason.ts";
import { number } from "../../shared/format.ts";
import { ago } from "../../shared/time.tsx";

/** Why a node is not running, in words. */
export function waitText(reason: WaitReason): string {
  switch (reason.kind) {
    case "dependency":
      return `waits for ${reason.nodes.join(", ")}`;
    case "retry":
      return `tries again ${ago(reason.at)} (attempt ${reason.attempt + 1})`;
    case "concurrency":
      return `waits for a slot: ${reason.fan_out} runs ${reason.limit} at once`;
    case "children":
      return `${number(reason.settled)} of ${number(reason.total)} children are settled`;
    case "paused":
      return "the job is paused";
    case "no_worker":
      return `no living worker offers ${reason.handler} on queue ${reason.queue}`;
    case "queued":
      return `queued on ${reason.queue}`;
    case "next_tick":
      return "starts at the next tick";
  }
}
