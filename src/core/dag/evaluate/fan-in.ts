import type { Json, JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Aggregation, FanInDefinition } from "../../model/workflow.ts";
import type { FanInNode } from "../graph.ts";
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
    : aggregate(node.definition, directContributions(evaluation, node));
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
export function aggregate(
  { aggregation, field }: Pick<FanInDefinition, "aggregation" | "field">,
  sources: readonly Contribution[],
): Collected {
  const outputs: Json[] = [];
  for (const { node_id, output = {}, error } of sources) {
    if (error !== undefined) continue;
    const value = field === undefined ? output : memberOf(output, field);
    const wrong = field === undefined ? undefined : unfit(aggregation, value);
    if (value === undefined || wrong !== undefined) {
      return notAggregated(`"${field ?? ""}" in the output of ${node_id} ${wrong ?? "is missing"}`);
    }
    outputs.push(value);
  }
  const failures = sources.filter((one) => one.error !== undefined);
  const count = outputs.length;
  switch (aggregation) {
    case "collect":
      return done({ results: outputs, count }, failures);
    case "stage":
      return done({ results: sources.flatMap(toStageResult), count }, failures);
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

/**
 * The result of a task of a stage. Handlers of the older platform answer `{success, result}`; what
 * they hand on to the next stage stands beside it.
 */
function toStageResult({ index, output = {}, error }: Contribution): JsonObject[] {
  if (error !== undefined || !isJsonObject(output)) return [];
  const { success, result, next_stage_params: handed } = output;
  const isWrapped = typeof success === "boolean" && result !== undefined;
  const value = { task_index: index, result: isWrapped ? result : output };
  return [isJsonObject(handed) ? { ...value, next_stage_params: handed } : value];
}

/** Follows a path such as `stats.area`; a key that holds the dots itself comes first. */
function memberOf(output: Json, field: string): Json | undefined {
  if (isJsonObject(output) && Object.hasOwn(output, field)) return output[field];
  let value: Json | undefined = output;
  for (const key of field.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** A field is named by the author, so a value that cannot be aggregated is a mistake. */
function unfit(aggregation: Aggregation, value: Json | undefined): string | undefined {
  if (value === undefined) return "is missing";
  if (aggregation === "sum" && typeof value !== "number") return "is not a number";
  if (aggregation === "concat" && !Array.isArray(value)) return "is not a list";
  return undefined;
}

/** `concat`: the elements of every list in an output; an output without a list adds nothing. */
function listsWithin(output: Json): readonly Json[] {
  if (Array.isArray(output)) return output as readonly Json[];
  if (!isJsonObject(output)) return [];
  const lists = Object.values(output).filter((value) => Array.isArray(value));
  return lists.flatMap((list) => list as readonly Json[]);
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
