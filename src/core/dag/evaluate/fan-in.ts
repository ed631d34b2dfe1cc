import type { Json, JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Aggregation } from "../../model/workflow.ts";
import type { FanInNode } from "../compile/graph.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Collected, Contribution, Facts, NodeFact } from "./facts.ts";

/**
 * Settles a fan-in. The outputs of fan-out children are not among the facts: `collect` asks the
 * engine to read and aggregate them once, and its answer comes back in `facts.collected`.
 */
export function beginFanIn(
  evaluation: Evaluation,
  facts: Facts,
  node: FanInNode,
  fact: NodeFact,
): void {
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
    .map((fact, index) => ({ node_id: fact.node_id, index, output: fact.output }));
}

/**
 * Combines the outputs of a fan-in's sources, in index order. Failed sources within the budget are
 * left out of the results and listed by index, so that a gap is not mistaken for data.
 */
export function aggregate(mode: Aggregation, sources: readonly Contribution[]): Collected {
  const outputs = sources.filter((one) => one.error === undefined).map((one) => one.output ?? {});
  const failures = sources.filter((one) => one.error !== undefined);
  const count = outputs.length;
  switch (mode) {
    case "collect":
      return done({ results: outputs, count }, failures);
    case "concat":
      return done({ results: outputs.flatMap(listsWithin), count }, failures);
    case "sum": {
      const total = outputs.reduce((sum: number, output) => sum + sumWithin(output), 0);
      if (!Number.isFinite(total)) return notAggregated("the sum is not a finite number");
      return done({ total, count }, failures);
    }
    case "first":
      return done({ result: outputs[0] ?? null, count }, failures);
    case "last":
      return done({ result: outputs[count - 1] ?? null, count }, failures);
  }
}

/** `concat`: the elements of every list in an output; an output without a list stands for itself. */
function listsWithin(output: Json): readonly Json[] {
  if (Array.isArray(output)) return output as readonly Json[];
  if (!isJsonObject(output)) return [output];
  const lists = Object.values(output).filter((value) => Array.isArray(value));
  return lists.length === 0 ? [output] : lists.flatMap((list) => list as readonly Json[]);
}

/** `sum`: every number at the top of an output; booleans and text are not numbers. */
function sumWithin(output: Json): number {
  if (typeof output === "number") return output;
  if (!isJsonObject(output)) return 0;
  return Object.values(output).reduce(
    (sum: number, value) => (typeof value === "number" ? sum + value : sum),
    0,
  );
}

function done(output: JsonObject, failures: readonly Contribution[]): Collected {
  if (failures.length === 0) return { ok: true, output };
  const failed = failures.map(({ index, node_id, error }) => {
    return { index, node_id, error: error?.message ?? null };
  });
  return { ok: true, output: { ...output, failed_count: failures.length, failed } };
}

function notAggregated(message: string): Collected {
  return { ok: false, error: { code: "AGGREGATION_FAILED", message, category: "permanent" } };
}
