import type { Json, JsonObject } from "../../model/json.ts";
import type { TaskError } from "../../model/task.ts";
import type { TaskTemplate } from "../../model/workflow.ts";
import { aggregate } from "./aggregate.ts";
import { chooseBranch } from "./choose-branch.ts";
import type { TaskOrder } from "./decision.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Contribution, Facts, NodeFact } from "./facts.ts";
import { judgeFanOut } from "./fan-out.ts";
import type { FanInNode, FanOutNode, GraphNode, TaskNode } from "../compile/graph.ts";
import { render } from "../language/template.ts";

/** A list of items is data on its way through and may be larger than what a template builds. */
const largestSource = 64 * 1024 * 1024;

/** Its dependencies are met. */
export function beginNode(
  evaluation: Evaluation,
  facts: Facts,
  node: GraphNode,
  fact: NodeFact,
): void {
  switch (node.type) {
    case "start":
    case "end":
      evaluation.complete(node, fact, {});
      return;
    case "conditional": {
      const choice = chooseBranch(node, evaluation.context());
      if (choice.ok) evaluation.complete(node, fact, choice.output);
      else evaluation.fail(node, fact, permanent("CONDITION_FAILED", choice.message));
      return;
    }
    case "fan_in":
      fanIn(evaluation, facts, node, fact);
      return;
    case "task":
      if (facts.job.paused) hold(evaluation, fact);
      else startTask(evaluation, node, fact);
      return;
    case "fan_out":
      if (facts.job.paused) hold(evaluation, fact);
      else expand(evaluation, facts, node, fact);
      return;
  }
}

/** A paused job starts nothing: the node is ready and says so, once. */
function hold(evaluation: Evaluation, fact: NodeFact): void {
  if (fact.status === "ready") return;
  evaluation.decide({ type: "ready", node_id: fact.node_id }, { ...fact, status: "ready" });
}

function startTask(evaluation: Evaluation, node: TaskNode, fact: NodeFact): void {
  if (fact.params !== undefined) {
    dispatch(evaluation, node.definition, fact, fact.params);
    return;
  }
  const params = render(node.params, evaluation.context());
  if (params.ok) dispatch(evaluation, node.definition, fact, params.value as JsonObject);
  else evaluation.fail(node, fact, permanent("TEMPLATE_FAILED", params.message));
}

export function dispatch(
  evaluation: Evaluation,
  template: TaskTemplate,
  fact: NodeFact,
  params: JsonObject,
): void {
  const { node_id, attempt } = fact;
  evaluation.decide(
    {
      type: "dispatch",
      node_id,
      attempt,
      task: { ...order(template), params },
    },
    { ...fact, status: "dispatched", params, retry_at: undefined },
  );
}

function expand(evaluation: Evaluation, facts: Facts, node: FanOutNode, fact: NodeFact): void {
  const items = fanOutItems(evaluation, node);
  if (!items.ok) {
    evaluation.fail(node, fact, permanent("FAN_OUT_SOURCE", items.message));
    return;
  }
  const params: JsonObject[] = [];
  for (const [index, item] of items.value.entries()) {
    const rendered = render(node.params, evaluation.context({ item, index }));
    if (!rendered.ok) {
      const message = `item ${index}: ${rendered.message}`;
      evaluation.fail(node, fact, permanent("TEMPLATE_FAILED", message));
      return;
    }
    params.push(rendered.value as JsonObject);
  }
  const total = params.length;
  const dispatched = Math.min(total, node.definition.max_concurrency ?? total);
  const expanded: NodeFact = {
    ...fact,
    status: "running",
    fan_out: {
      total,
      next_index: dispatched,
      completed: 0,
      failed: 0,
      failed_indexes: [],
    },
  };
  const task = order(node.definition.task);
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

/** Outputs of fan-out children are read only when they are needed, once: hence `collect`. */
function fanIn(evaluation: Evaluation, facts: Facts, node: FanInNode, fact: NodeFact): void {
  const fromChildren = node.incoming.some((edge) => edge.from.type === "fan_out");
  const answer = fromChildren
    ? facts.collected?.get(node.id)
    : aggregate(node.definition.aggregation, directContributions(evaluation, node));
  if (answer === undefined) {
    if (fact.status === "ready") return;
    evaluation.decide({ type: "collect", node_id: node.id }, { ...fact, status: "ready" });
  } else if (answer.ok) {
    evaluation.complete(node, fact, answer.output);
  } else {
    evaluation.fail(node, fact, answer.error);
  }
}

function directContributions(evaluation: Evaluation, node: FanInNode): readonly Contribution[] {
  return node.incoming
    .map((edge) => evaluation.factOf(edge.from))
    .filter((fact) => fact.status === "completed")
    .map((fact, index) => ({
      node_id: fact.node_id,
      index,
      output: fact.output,
    }));
}

function order({ handler, queue, timeout_seconds }: TaskTemplate): Omit<TaskOrder, "params"> {
  return { handler, queue, timeout_seconds };
}

export function permanent(code: string, message: string): TaskError {
  return { code, message, category: "permanent" };
}
