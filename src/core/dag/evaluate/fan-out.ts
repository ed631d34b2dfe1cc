import type { JsonObject } from "../../model/json.ts";
import { childNodeId } from "../../model/node.ts";
import type { TaskError } from "../../model/task.ts";
import type { FanInDefinition } from "../../model/workflow.ts";
import type { FanOutCounters } from "./facts.ts";
import type { FanOutNode } from "../compile/graph.ts";

/** A list longer than this in the output would be loaded again with every later evaluation. */
const listedChildren = 1000;

/** Failed children that an error message names. */
export const namedFailures = 20;

/** Failures that every fan-in behind it accepts; who names no budget accepts none. */
export function allowedFailures(fanIns: readonly FanInDefinition[], total: number): number {
  if (fanIns.length === 0) return 0;
  return Math.min(...fanIns.map((fanIn) => budgetOf(fanIn, total)));
}

function budgetOf(fanIn: FanInDefinition, total: number): number {
  const { max_failures, max_failure_percent, min_success } = fanIn;
  const limits = [
    max_failures,
    max_failure_percent === undefined ? undefined : Math.floor((total * max_failure_percent) / 100),
    min_success === undefined ? undefined : total - min_success,
  ].filter((limit) => limit !== undefined);
  return limits.length === 0 ? 0 : Math.min(...limits);
}

export type FanOutVerdict =
  | { readonly type: "complete"; readonly output: JsonObject }
  | { readonly type: "fail"; readonly error: TaskError }
  | { readonly type: "release"; readonly from: number; readonly to: number }
  | { readonly type: "wait" };

/** What follows from the counters alone: nothing here depends on how many children there are. */
export function judgeFanOut(node: FanOutNode, counters: FanOutCounters): FanOutVerdict {
  const { total, next_index, completed, failed } = counters;
  const settled = completed + failed;
  const exceeded = failed > allowedFailures(node.fanIns, total);
  if (exceeded && (settled === total || node.definition.on_failure === "fail_fast")) {
    return { type: "fail", error: budgetError(node, counters) };
  }
  if (settled === total) return { type: "complete", output: fanOutOutput(node.id, counters) };
  const slots = (node.definition.max_concurrency ?? total) - (next_index - settled);
  const to = Math.min(total, next_index + slots);
  return to > next_index ? { type: "release", from: next_index, to } : { type: "wait" };
}

function fanOutOutput(nodeId: string, { total, completed, failed }: FanOutCounters): JsonObject {
  const counts = {
    fan_out_count: total,
    completed_count: completed,
    failed_count: failed,
  };
  if (total > listedChildren) return counts;
  const ids = Array.from({ length: total }, (_, index) => childNodeId(nodeId, index));
  return { ...counts, child_node_ids: ids };
}

function budgetError(node: FanOutNode, counters: FanOutCounters): TaskError {
  const { total, failed, failed_indexes } = counters;
  const allowed = Math.max(0, allowedFailures(node.fanIns, total));
  const named = failed_indexes.map((index) => childNodeId(node.id, index));
  const more = failed > named.length ? ` and ${failed - named.length} more` : "";
  const who = named.length > 0 ? `: ${named.join(", ")}${more}` : "";
  const short =
    failed === 0
      ? `${total} children are fewer than the successes required`
      : `${failed} of ${total} children failed, ${allowed} allowed${who}`;
  return {
    code: "FAN_OUT_BUDGET",
    message: short,
    category: "permanent",
    details: { failed_node_ids: named, failed_count: failed, total },
  };
}
