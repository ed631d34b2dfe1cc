import type { Json, JsonObject } from "../model/json.ts";
import { dots } from "../model/mask.ts";
import type { InputDeclaration, WorkflowDefinition } from "../model/workflow.ts";
import { describe } from "./finding.ts";
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

/**
 * Checks the inputs of a job against the declarations of its workflow and fills in the defaults.
 */
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
    const wrong =
      declaration.secret === true && value === dots
        ? "is secret and was given as the dots that stand for it: give its value"
        : inputProblem(declaration, value);
    if (wrong === undefined) inputs.push([name, value]);
    else problems.push(problem("WRONG_INPUT", name, `"${name}" ${wrong}`));
  }
  problems.push(...unknownInputs(Object.keys(declared), Object.keys(given)));
  // fromEntries and not assignment: a name such as __proto__ must stay a plain key.
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, inputs: Object.fromEntries(inputs) };
}

/** Each costs a comparison with all declared names, and no author reads more. */
const mostUnknown = 50;

function unknownInputs(declared: readonly string[], given: readonly string[]): InputProblem[] {
  const known = new Set(declared);
  const unknown = given.filter((name) => !known.has(name));
  const problems = unknown.slice(0, mostUnknown).map((name) => {
    const hint = didYouMean(name, declared);
    return problem("UNKNOWN_INPUT", name, `there is no input "${name}"${hint}`);
  });
  const more = unknown.length - problems.length;
  if (more === 0) return problems;
  const message = `${more} more inputs are not known either`;
  return [...problems, { pointer: "", code: "UNKNOWN_INPUT", message }];
}

function problem(code: InputProblem["code"], name: string, message: string): InputProblem {
  return { pointer: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, message, code };
}

/** Patterns run on text from partners, so a longer value is refused before it is matched. */
const longestMatched = 4096;

/** Returns why a value does not fit its declaration; undefined: it fits. */
export function inputProblem(declaration: InputDeclaration, value: Json): string | undefined {
  const { type, minimum, maximum, pattern } = declaration;
  if (!hasType(type, value)) {
    const given = declaration.secret === true ? "another type" : describe(value);
    return `must be ${article(type)}, not ${given}`;
  }
  if (declaration.enum !== undefined && !declaration.enum.some((each) => equal(each, value))) {
    return `must be one of ${declaration.enum.map((each) => JSON.stringify(each)).join(", ")}`;
  }
  if (typeof value === "number") {
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
    if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  }
  if (typeof value === "string" && pattern !== undefined) {
    if (value.length > longestMatched) return `must have at most ${longestMatched} characters`;
    if (!compilePattern(pattern)?.test(value)) return `must match ${pattern}`;
  }
  return undefined;
}

export function compilePattern(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

/**
 * A group that repeats and holds a repetition or an alternative, as in `(a+)+` or `(a|a)*`, can
 * take exponential time on a value made for it. This check also refuses some safe patterns; they
 * can be written without the inner repetition.
 */
export function mayExplode(pattern: string): boolean {
  const bare = pattern.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  const open: boolean[] = [];
  for (let at = 0; at < bare.length; at++) {
    const repeats = /^(?:[*+]|\{\d+,?\d*\})/.test(bare.slice(at + 1, at + 24));
    const character = bare[at];
    if (character === "(") open.push(false);
    else if (character === ")") {
      const risky = open.pop() ?? false;
      if (risky && repeats) return true;
      if (risky && open.length > 0) open[open.length - 1] = true;
    }
    if (open.length > 0 && character !== "(" && (repeats || character === "|")) {
      open[open.length - 1] = true;
    }
  }
  return false;
}

function hasType(type: InputDeclaration["type"], value: Json): boolean {
  switch (type) {
    case "string":
    case "boolean":
    case "number":
      return typeof value === type;
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
  }
}

function article(type: string): string {
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function equal(a: Json, b: Json): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const left = Object.entries(a);
  if (Array.isArray(a) !== Array.isArray(b) || left.length !== Object.keys(b).length) return false;
  return left.every(
    ([key, value]) =>
      Object.hasOwn(b, key) && equal(value, (b as Record<string, Json>)[key] ?? null),
  );
}
