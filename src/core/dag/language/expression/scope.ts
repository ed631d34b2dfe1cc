import type { Json, JsonObject } from "../../../model/json.ts";

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
}

export interface TemplateLimits {
  /** Evaluation steps of one render. */
  readonly steps: number;
  /** Characters of JSON that one render may produce. */
  readonly size: number;
  /** Nesting of the rendered tree. */
  readonly depth: number;
}

export const defaultLimits: TemplateLimits = { steps: 50_000, size: 1_048_576, depth: 64 };

/** Longest string that may hold expressions, in characters. */
export const maxSourceLength = 16_384;
/** Deepest nesting of operators, brackets and filters. */
export const maxExpressionDepth = 64;

const perStep = {
  characters: 64,
  elements: 16,
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

  /** Checks the length of a string that is about to be built. */
  allowLength(length: number): void {
    if (length > this.#size) this.#tooLarge();
    this.spendOn(length, "characters");
  }

  /** Charges the result for this many characters of JSON. */
  takeSize(size: number): void {
    this.#size -= size;
    if (this.#size < 0) this.#tooLarge();
  }

  /** Charges the result for a value that stands `depth` levels down in it. */
  take(value: Json, depth: number): void {
    if (typeof value === "string") this.takeSize(value.length + 2);
    else if (typeof value === "object" && value !== null) this.takeSize(this.weigh(value, depth));
    else this.takeSize(String(value).length);
  }

  /** Length as JSON, without escapes. Throws as soon as the length exceeds the remaining budget. */
  weigh(value: Json, depth = 0): number {
    return this.#weigh(value, depth, 0);
  }

  guardDepth(depth: number): void {
    if (depth > this.#limits.depth) {
      throw new Failure(`the value is nested deeper than ${this.#limits.depth} levels`);
    }
  }

  #weigh(value: Json, depth: number, before: number): number {
    if (before > this.#size) this.#tooLarge();
    if (typeof value === "string") return before + value.length + 2;
    if (typeof value !== "object" || value === null) return before + String(value).length;
    this.guardDepth(depth + 1);
    let sum = before + 2;
    if (isList(value)) {
      for (const element of value) sum = this.#weigh(element, depth + 1, sum + 1);
    } else {
      for (const key of Object.keys(value)) {
        sum = this.#weigh(value[key] as Json, depth + 1, sum + key.length + 4);
      }
    }
    if (sum > this.#size) this.#tooLarge();
    return sum;
  }

  #tooLarge(): never {
    throw new Failure(`the result is larger than ${this.#limits.size} characters`);
  }
}
