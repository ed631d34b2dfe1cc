import type { Json, JsonObject } from "../../model/json.ts";
import { childNodeId } from "../../model/node.ts";
import type { TaskError } from "../../model/task.ts";
import type { FanInDefinition } from "../../model/workflow.ts";
import type { FanOutNode } from "../compile/graph.ts";
import { render } from "../language/template.ts";
import { taskOrder } from "./decision.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Facts, FanOutCounters, NodeFact } from "./facts.ts";

/** The items pass through as data, so they may be larger than what a template builds. */
const largestSource = 64 * 1024 * 1024;

/** A list longer than this in the output would be loaded again with every later evaluation. */
const listedChildren = 1000;

/** Creates the children of a fan-out and dispatches as many as may run at once. */
export function expandFanOut(
  evaluation: Evaluation,
  facts: Facts,
  node: FanOutNode,
  fact: NodeFact,
): void {
  const items = fanOutItems(evaluation, node);
  if (!items.ok) {
    evaluation.failForGood(node, fact, "FAN_OUT_SOURCE", items.message);
    return;
  }
  const params: JsonObject[] = [];
  for (const [index, item] of items.value.entries()) {
    const rendered = render(node.params, evaluation.context({ item, index }));
    if (!rendered.ok) {
      const message = `item ${index}: ${rendered.message}`;
      evaluation.failForGood(node, fact, "TEMPLATE_FAILED", message);
      return;
    }
    params.push(rendered.value as JsonObject);
  }
  const total = params.length;
  const dispatched = Math.min(total, node.definition.max_concurrency ?? total);
  const counters = { total, next_index: dispatched, completed: 0, failed: 0, failed_indexes: [] };
  const expanded: NodeFact = { ...fact, status: "running", fan_out: counters };
  const task = taskOrder(node.definition.task);
  evaluation.decide({ type: "expand", node_id: node.id, task, params, dispatched }, expanded);
  if (total === 0) watchFanOut(evaluation, facts, node, expanded);
}

function fanOutItems(
  evaluation: Evaluation,
  node: FanOutNode,
): { ok: true; value: readonly Json[] } | { ok: false; message: string } {
  if (!("references" in node.source)) return { ok: true, value: node.source };
  const rendered = render(node.source, evaluation.context(), { size: largestSource });
  if (!rendered.ok) return rendered;
  if (Array.isArray(rendered.value)) return { ok: true, value: rendered.value as readonly Json[] };
  const type = rendered.value === null ? "null" : typeof rendered.value;
  return { ok: false, message: `the source must be a list, but it is ${type}` };
}

/** Settles an expanded fan-out or releases more of its children, after its counters changed. */
export function watchFanOut(
  evaluation: Evaluation,
  facts: Facts,
  node: FanOutNode,
  fact: NodeFact,
): void {
  if (fact.fan_out === undefined) return;
  const verdict = judgeFanOut(node, fact.fan_out);
  switch (verdict.type) {
    case "complete":
      evaluation.complete(node, fact, verdict.output);
      return;
    case "fail":
      evaluation.fail(node, fact, verdict.error);
      return;
    case "release": {
      if (facts.job.paused) return;
      const { from, to } = verdict;
      evaluation.decide(
        { type: "release", node_id: node.id, from, to },
        { ...fact, fan_out: { ...fact.fan_out, next_index: to } },
      );
      return;
    }
    case "wait":
  }
}

/** Failures that every fan-in behind it accepts; a fan-in without a budget accepts none. */
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

type FanOutVerdict =
  | { readonly type: "complete"; readonly output: JsonObject }
  | { readonly type: "fail"; readonly error: TaskError }
  | { readonly type: "release"; readonly from: number; readonly to: number }
  | { readonly type: "wait" };

/** Decides from the counters alone, so the cost does not depend on the number of children. */
function judgeFanOut(node: FanOutNode, counters: FanOutCounters): FanOutVerdict {
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
