import type { Json, JsonObject } from "../../../model/json.ts";
import { valueLimits } from "../../../model/limits.ts";
import type { TreePath } from "../../finding.ts";
import { deepest, weigh } from "../weigh.ts";

/*
 * Limits what one evaluation may cost. Expressions come from authors and work on data of partners,
 * so they are treated as hostile: every operation pays a step before it works, and every string is
 * measured before it is built. A step is one operation, or a number of characters, elements or
 * keys, chosen so that fifty thousand steps take some tens of milliseconds, whatever they are spent
 * on.
 */

/** The values that an expression can name. */
export interface TemplateContext {
  readonly inputs: JsonObject;
  readonly job: JsonObject;
  readonly env: JsonObject;
  /** Present only inside a fan-out. */
  readonly item?: Json;
  readonly index?: number;
  /** `{ output, status }` of a node. */
  node(id: string): JsonObject | undefined;
  /** The same of the nodes directly before; absent in the outputs of a workflow. */
  upstream?(): JsonObject | undefined;
}

export interface TemplateLimits {
  /** Evaluation steps of one render. */
  readonly steps: number;
  /** Characters of JSON that one render may produce. */
  readonly size: number;
  /** Characters of a text that is built from parts. */
  readonly text: number;
  /** Nesting of the rendered tree. */
  readonly depth: number;
}

export const defaultLimits: TemplateLimits = {
  steps: 50_000,
  size: valueLimits.value,
  text: valueLimits.text,
  depth: deepest,
};

/** Longest string that may hold expressions, in characters. */
export const maxSourceLength = 16_384;
/** Deepest nesting of operators, brackets and filters. */
export const maxExpressionDepth = 64;

const perStep = {
  characters: 64,
  elements: 16,
  /** Numbers of a range, which are neither looked at nor copied. */
  numbers: 64,
  /** Collecting the keys of a large object takes up to a microsecond each. */
  keys: 4,
  /** Comparisons of characters: a search compares at most the product of both lengths. */
  comparisons: 4096,
} as const;

/** Ends an evaluation. `render` and `holds` catch it and return its message. */
export class Failure extends Error {}

/** Turns any error of an evaluation into the message that `render` and `holds` return. */
export function explain(error: unknown): string {
  if (error instanceof Failure) return error.message;
  return `the evaluation broke off: ${error instanceof Error ? error.message : "unknown error"}`;
}

/** The value of a reference that leads nowhere. Only `default` and `is defined` accept it. */
export class Missing {
  readonly explain: () => string;
  constructor(explain: () => string) {
    this.explain = explain;
  }
}

export type Value = Json | Missing;
export type Evaluate = (scope: Scope) => Value;

export function demand(value: Value): Json {
  if (value instanceof Missing) throw new Failure(value.explain());
  return value;
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Names a type in the words of a workflow author, for messages. */
export function typeName(value: Json): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}

export class Scope {
  readonly context: TemplateContext;
  /** Where in the rendered tree the expression stands that is being evaluated. */
  at: TreePath = [];
  readonly #limits: TemplateLimits;
  #steps: number;
  #size: number;

  constructor(context: TemplateContext, limits: TemplateLimits) {
    this.context = context;
    this.#limits = limits;
    this.#steps = limits.steps;
    this.#size = limits.size;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) {
      throw new Failure(`the evaluation takes more than ${this.#limits.steps} steps`);
    }
  }

  spendOn(count: number, what: keyof typeof perStep): void {
    this.spend(Math.ceil(count / perStep[what]));
  }

  /** Checks the length of a text that is about to be built. */
  allowLength(length: number): void {
    if (length > this.#limits.text) {
      throw new Failure(
        `a text of ${length} characters is longer than a template may build ` +
          `(${this.#limits.text}); insert the value whole, with nothing around its {{ }}`,
      );
    }
    this.spendOn(length, "characters");
  }

  /** Checks the length of a list that is about to be built; an element takes two characters. */
  allowElements(count: number): void {
    if (2 * count > this.#size) this.#tooLarge(2 * count);
    this.spendOn(count, "elements");
  }

  /** Charges the result for this many characters of JSON. */
  takeSize(size: number): void {
    if (size > this.#size) this.#tooLarge(size);
    this.#size -= size;
  }

  /** Charges the result for a value that stands `depth` levels down in it. */
  take(value: Json, depth: number): void {
    if (typeof value === "string") this.takeSize(value.length + 2);
    else if (typeof value === "object" && value !== null) this.takeSize(this.weigh(value, depth));
    else this.takeSize(String(value).length);
  }

  /** The length as JSON, without escapes. Throws for a value that is too large or too deep. */
  weigh(value: Json, depth = 0): number {
    const weight = weigh(value, 2 * this.#limits.size);
    if (weight === "too large") return this.#tooLarge(undefined);
    if (weight === "too deep") return this.#tooDeep();
    if (weight.size > this.#size) this.#tooLarge(weight.size);
    if (depth + weight.depth > this.#limits.depth) this.#tooDeep();
    return weight.size;
  }

  guardDepth(depth: number): void {
    if (depth > this.#limits.depth) this.#tooDeep();
  }

  #tooDeep(): never {
    throw new Failure(`the value is nested deeper than ${this.#limits.depth} levels`);
  }

  #tooLarge(size: number | undefined): never {
    const { size: limit } = this.#limits;
    const given = size === undefined ? `more than ${2 * limit}` : String(size);
    const others =
      size !== undefined && size <= limit ? ", with those before it more than allowed" : "";
    throw new Failure(`the value has ${given} characters of JSON${others}; the limit is ${limit}`);
  }
}
