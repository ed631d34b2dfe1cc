import type { Json, JsonObject } from "../../model/json.ts";
import type { WorkflowDefinition } from "../../model/workflow.ts";
import { inputProblem } from "./input-value.ts";
import { didYouMean } from "./suggest.ts";

export interface InputProblem {
  /** JSON pointer into the inputs as given. */
  readonly pointer: string;
  readonly message: string;
  readonly code: "MISSING_INPUT" | "UNKNOWN_INPUT" | "WRONG_INPUT";
}

export type CheckedInputs =
  | { readonly ok: true; readonly inputs: JsonObject }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** What a job is submitted with against what its workflow declares; fills in the defaults. */
export function checkInputs(
  { inputs: declared }: Pick<WorkflowDefinition, "inputs">,
  given: JsonObject,
): CheckedInputs {
  if (declared === undefined) return { ok: true, inputs: given };
  const problems: InputProblem[] = [];
  const inputs: [string, Json][] = [];
  for (const [name, declaration] of Object.entries(declared)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      if (declaration.required) {
        problems.push(problem("MISSING_INPUT", name, `"${name}" is required`));
      } else if (declaration.default !== undefined) inputs.push([name, declaration.default]);
      continue;
    }
    const wrong = inputProblem(declaration, value);
    if (wrong === undefined) inputs.push([name, value]);
    else problems.push(problem("WRONG_INPUT", name, `"${name}" ${wrong}`));
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(declared, name)) continue;
    const hint = didYouMean(name, Object.keys(declared));
    problems.push(problem("UNKNOWN_INPUT", name, `there is no input "${name}"${hint}`));
  }
  // fromEntries and not assignment: a name such as __proto__ must stay a plain key.
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, inputs: Object.fromEntries(inputs) };
}

function problem(code: InputProblem["code"], name: string, message: string): InputProblem {
  return { pointer: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, message, code };
}
