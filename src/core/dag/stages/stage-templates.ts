import type { Json } from "../../model/json.ts";

/** Where the names of a declaration are found in the workflow that it becomes. */
export interface StageScope {
  readonly stage: number;
  /** The fan-in of the stage whose results are `previous_results`; undefined in the first stage. */
  readonly previous: string | undefined;
  /** The fan-in of each stage by its number. */
  readonly results: ReadonlyMap<number, string>;
}

const expression = /\{\{[\s\S]*?\}\}/g;
/** A text in quotes, which stays; or a name that no dot and no other letter precedes. */
const part = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.\]])[A-Za-z_]\w*/g;
const stageResults = /(?<![\w.])stage_results(?:\[["']?(\d+)["']?\]|\.(\d+))/g;

/** Rewrites every template of a value in the names of the workflow. */
export function toWorkflowNames(value: Json, scope: StageScope): Json {
  if (typeof value === "string") return rewriteText(value, scope);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each: Json) => toWorkflowNames(each, scope));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, toWorkflowNames(each, scope)]),
  );
}

export function rewriteText(value: string, scope: StageScope): string {
  return value.replace(expression, (text) => rewrite(text, scope));
}

function rewrite(text: string, { stage, previous, results }: StageScope): string {
  const withResults = text.replace(stageResults, (whole, first?: string, second?: string) => {
    const node = results.get(Number(first ?? second));
    return node === undefined ? whole : `nodes[${JSON.stringify(node)}].output`;
  });
  return withResults.replace(part, (name) => {
    switch (name) {
      case "parameters":
      case "job_params":
        return "inputs";
      case "previous_results":
        return previous === undefined ? name : `nodes[${JSON.stringify(previous)}].output.results`;
      case "job_id":
        return "job.job_id";
      case "stage":
        return String(stage);
      default:
        return name;
    }
  });
}
