import type { Json, JsonObject } from "../../model/json.ts";
import { childNodeId } from "../../model/node.ts";
import type { TaskError } from "../../model/task.ts";
import type { FanInDefinition } from "../../model/workflow.ts";
import type { FanOutNode } from "../graph.ts";
import { explainAt, render } from "../language/template.ts";
import { taskOrder } from "./decision.ts";
import type { Evaluation } from "./evaluation.ts";
import { renderParams } from "./render-params.ts";
import type { Facts, FanOutCounters, NodeFact } from "./facts.ts";

/** A list longer than this in the output would be loaded again with every later evaluation. */
const listedChildren = 1000;

/**
 * How many children of a large fan-out are created at once. All of a fan-out of up to two first blocks
 * are created when it begins. A larger one gets its next block when fewer than a block are open, so that
 * rows, messages and memory of one evaluation do not grow with it, and the queue never runs empty.
 *
 * The first block is small and each next one as large as all before it: workers begin after a thousand
 * rows are written, and run them while the next ones are created.
 */
const defaultBlock = 5000;
const firstBlock = 1000;

/** Creates the first children of a fan-out and dispatches as many as may run at once. */
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
  const { length: total } = items.value;
  const most = facts.max_fan_out ?? Infinity;
  if (total > most) {
    const message =
      `the source has ${total} items, and a fan-out has at most ${most} children: ` +
      "make each child do more, or let the operator raise MAX_FAN_OUT";
    evaluation.failForGood(node, fact, "FAN_OUT_TOO_LARGE", message);
    return;
  }
  const first = facts.fan_out_block ?? firstBlock;
  const created = total <= 2 * first ? total : first;
  const none = { total, next_index: 0, completed: 0, failed: 0, failed_indexes: [] };
  const counters = created < total ? { ...none, created: 0 } : none;
  const next = { count: created, slots: node.definition.max_concurrency ?? created };
  const expanded = createChildren(evaluation, node, fact, counters, items.value, next);
  if (total === 0 && expanded !== undefined) watchFanOut(evaluation, facts, node, expanded);
}

interface Next {
  /** How many children to create. */
  readonly count: number;
  /** How many of them may run at once. */
  readonly slots: number;
}

/** Decides the next children; undefined where the parameters of one cannot be rendered. */
function createChildren(
  evaluation: Evaluation,
  node: FanOutNode,
  fact: NodeFact,
  counters: FanOutCounters,
  items: readonly Json[],
  { count, slots }: Next,
): NodeFact | undefined {
  const from = counters.created ?? 0;
  const params: JsonObject[] = [];
  const shared = evaluation.context(node);
  for (let index = from; index < from + count; index += 1) {
    const item = items[index] ?? null;
    const rendered = renderParams(node.params, { ...shared, item, index });
    if (!rendered.ok) {
      const message = `item ${index}: ${explainAt("parameter", rendered)}`;
      evaluation.failForGood(node, fact, "TEMPLATE_FAILED", message);
      return undefined;
    }
    params.push(rendered.value);
  }
  const { total } = counters;
  const dispatched = Math.min(count, slots);
  const expanded: NodeFact = {
    ...fact,
    status: "running",
    fan_out: {
      ...counters,
      next_index: from + dispatched,
      ...(counters.created === undefined ? {} : { created: from + count }),
    },
  };
  const task = taskOrder(node.definition.task);
  evaluation.decide(
    { type: "expand", node_id: node.id, task, from, total, params, dispatched },
    expanded,
  );
  return expanded;
}

function fanOutItems(
  evaluation: Evaluation,
  node: FanOutNode,
): { ok: true; value: readonly Json[] } | { ok: false; message: string } {
  if (!("references" in node.source)) return { ok: true, value: node.source };
  const rendered = render(node.source, evaluation.context(node));
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
  const verdict = judgeFanOut(node, fact.fan_out, facts.fan_out_block ?? defaultBlock);
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
      const released = { ...fact, fan_out: { ...fact.fan_out, next_index: to } };
      evaluation.decide({ type: "release", node_id: node.id, from, to }, released);
      watchFanOut(evaluation, facts, node, released);
      return;
    }
    case "create":
      if (!facts.job.paused) createNext(evaluation, node, fact, fact.fan_out, verdict);
      return;
    case "wait":
  }
}

/** Renders the source again: only inputs and outputs that never change are part of it. */
function createNext(
  evaluation: Evaluation,
  node: FanOutNode,
  fact: NodeFact,
  counters: FanOutCounters,
  next: Next,
): void {
  const { total } = counters;
  const items = fanOutItems(evaluation, node);
  if (items.ok && items.value.length === total) {
    createChildren(evaluation, node, fact, counters, items.value, next);
    return;
  }
  const message = items.ok
    ? `the source had ${total} items and has ${items.value.length} now`
    : items.message;
  evaluation.failForGood(node, fact, "FAN_OUT_SOURCE", message);
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
  | ({ readonly type: "create" } & Next)
  | { readonly type: "wait" };

/** Decides from the counters alone, so the cost does not depend on the number of children. */
function judgeFanOut(node: FanOutNode, counters: FanOutCounters, block: number): FanOutVerdict {
  const { total, next_index, completed, failed, created = total } = counters;
  const settled = completed + failed;
  const exceeded = failed > allowedFailures(node.fanIns, total);
  if (exceeded && (settled === total || node.definition.on_failure === "fail_fast")) {
    return { type: "fail", error: budgetError(node, counters) };
  }
  if (settled === total) return { type: "complete", output: fanOutOutput(node.id, counters) };
  const open = next_index - settled;
  const limit = node.definition.max_concurrency;
  const slots = limit === undefined ? total : Math.max(0, limit - open);
  const to = Math.min(created, next_index + slots);
  if (to > next_index) return { type: "release", from: next_index, to };
  if (created === total || slots === 0 || open >= block) return { type: "wait" };
  return { type: "create", count: Math.min(block, created, total - created), slots };
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
  const { total, failed, failed_indexes, first_errors = [] } = counters;
  const allowed = Math.max(0, allowedFailures(node.fanIns, total));
  const named = failed_indexes.map((index) => childNodeId(node.id, index));
  const errorOf = new Map(first_errors.map((error) => [error.node_id, error]));
  const listed = named.map((id) => {
    const error = errorOf.get(id);
    return error === undefined ? id : `${id} (${error.code}: ${error.message})`;
  });
  const more = failed > named.length ? ` and ${failed - named.length} more` : "";
  const who = named.length > 0 ? `: ${listed.join(", ")}${more}` : "";
  const message =
    failed === 0
      ? `${total} children are fewer than the successes required`
      : `${failed} of ${total} children failed, ${allowed} allowed${who}`;
  return {
    code: "FAN_OUT_BUDGET",
    message,
    category: "permanent",
    details: { failed_node_ids: named, failed_count: failed, total, first_errors },
  };
}
