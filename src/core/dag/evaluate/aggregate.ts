import type { Json, JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Aggregation } from "../../model/workflow.ts";
import type { Collected, Contribution } from "./facts.ts";

/**
 * The output of a fan-in from what its sources gave, in index order. Failed sources within the
 * budget are left out of the results and listed by index, so that nobody mistakes a gap for data.
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
      if (!Number.isFinite(total)) return failed("the sum is not a finite number");
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
  const failedOnes = failures.map(({ index, node_id, error }) => ({
    index,
    node_id,
    error: error?.message ?? null,
  }));
  return {
    ok: true,
    output: { ...output, failed_count: failures.length, failed: failedOnes },
  };
}

function failed(message: string): Collected {
  return {
    ok: false,
    error: { code: "AGGREGATION_FAILED", message, category: "permanent" },
  };
}
