import type { GraphNode, TaskNode } from "../graph.ts";
import { explainAt } from "../language/template.ts";
import { chooseBranch } from "./conditional.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Facts, NodeFact } from "./facts.ts";
import { beginFanIn } from "./fan-in.ts";
import { expandFanOut } from "./fan-out.ts";
import { renderParams } from "./render-params.ts";

/** Starts or settles a node whose dependencies are met. A new node type begins here. */
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
      const choice = chooseBranch(node, evaluation.context(node));
      if (choice.ok) evaluation.complete(node, fact, choice.output);
      else evaluation.failForGood(node, fact, "CONDITION_FAILED", choice.message);
      return;
    }
    case "fan_in":
      beginFanIn(evaluation, facts, node, fact);
      return;
    case "task":
      if (facts.job.paused) hold(evaluation, fact);
      else startTask(evaluation, node, fact);
      return;
    case "fan_out":
      if (facts.job.paused) hold(evaluation, fact);
      else expandFanOut(evaluation, facts, node, fact);
      return;
  }
}

/** A paused job starts nothing: the node becomes ready, and `ready` is decided only once. */
function hold(evaluation: Evaluation, fact: NodeFact): void {
  if (fact.status === "ready") return;
  evaluation.decide({ type: "ready", node_id: fact.node_id }, { ...fact, status: "ready" });
}

function startTask(evaluation: Evaluation, node: TaskNode, fact: NodeFact): void {
  if (fact.params !== undefined) {
    evaluation.dispatch(node.definition, fact, fact.params);
    return;
  }
  const params = renderParams(node.params, evaluation.context(node));
  if (params.ok) evaluation.dispatch(node.definition, fact, params.value);
  else evaluation.failForGood(node, fact, "TEMPLATE_FAILED", explainAt("parameter", params));
}
