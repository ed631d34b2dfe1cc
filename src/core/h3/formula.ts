/**
 * Numbers computed of the values of one H3 cell. The text is an expression of CQL2, such as
 * `0.6 * flood.max + (slope.mean > 30)`: a comparison counts 1 or 0. A value that the cell does not have makes
 * the result empty, but for `coalesce` and `is null`.
 */
import { parseText } from "../cql2/parse-text.ts";
import type { Json } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";

/** The value of a column such as `flood.max`; undefined: the cell has none. */
export type ReadValue = (column: string) => number | undefined;

export interface Formula {
  /** The columns that it names. */
  readonly columns: ReadonlySet<string>;
  /** Undefined: a value is missing, or the result is no finite number. */
  readonly evaluate: (read: ReadValue) => number | undefined;
}

type Evaluate = Formula["evaluate"];

/** Throws a Problem whose message says what is wrong with the text. */
export function readFormula(text: string): Formula {
  const columns = new Set<string>();
  const evaluate = compile(parseText(text), columns);
  return {
    columns,
    evaluate: (read) => {
      const value = evaluate(read);
      return value !== undefined && Number.isFinite(value) ? value : undefined;
    },
  };
}

function compile(tree: Json, columns: Set<string>): Evaluate {
  if (typeof tree === "number") return () => tree;
  if (typeof tree === "boolean") return () => Number(tree);
  if (!isJsonObject(tree)) throw new Error("a formula has numbers and columns, and no texts");
  const { property, op, args } = tree;
  if (typeof property === "string") {
    columns.add(property);
    return (read) => read(property);
  }
  if (typeof op !== "string" || !Array.isArray(args)) {
    throw new Error("a formula has numbers and columns, and no times or geometries");
  }
  const parts = (args as readonly Json[]).map((each) => compile(each, columns));
  const [first = () => undefined] = parts;
  if (op === "coalesce") {
    return (read) => {
      for (const part of parts) {
        const value = part(read);
        if (value !== undefined) return value;
      }
      return undefined;
    };
  }
  if (op === "isNull") return (read) => Number(first(read) === undefined);
  const known = operations.get(op);
  if (known === undefined) {
    throw new Error(`"${op}" is unknown; there are ${[...operations.keys()].join(" ")} coalesce`);
  }
  const [compute, least, most = least] = known;
  if (parts.length < least || parts.length > most) {
    throw new Error(`"${op}" takes ${least === most ? least : `at least ${least}`} values`);
  }
  return (read) => {
    const values: number[] = [];
    for (const part of parts) {
      const value = part(read);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return compute(...(values as [number, number, number]));
  };
}

/** What is computed, of how many values at least and at most. */
type Operation = readonly [compute: (...values: number[]) => number, least: number, most?: number];

const two = (compute: (a: number, b: number) => number): Operation => [
  (a = NaN, b = NaN) => compute(a, b),
  2,
];
const one = (compute: (a: number) => number): Operation => [(a = NaN) => compute(a), 1];

const operations: ReadonlyMap<string, Operation> = new Map([
  ["+", two((a, b) => a + b)],
  ["-", two((a, b) => a - b)],
  ["*", two((a, b) => a * b)],
  ["/", two((a, b) => a / b)],
  ["%", two((a, b) => a % b)],
  ["^", two((a, b) => a ** b)],
  ["=", two((a, b) => Number(a === b))],
  ["<>", two((a, b) => Number(a !== b))],
  ["<", two((a, b) => Number(a < b))],
  ["<=", two((a, b) => Number(a <= b))],
  [">", two((a, b) => Number(a > b))],
  [">=", two((a, b) => Number(a >= b))],
  ["between", [(a = NaN, low = NaN, high = NaN) => Number(a >= low && a <= high), 3]],
  ["and", [(...values) => Number(values.every((each) => each !== 0)), 2, Infinity]],
  ["or", [(...values) => Number(values.some((each) => each !== 0)), 2, Infinity]],
  ["not", one((a) => Number(a === 0))],
  ["min", [(...values) => Math.min(...values), 1, Infinity]],
  ["max", [(...values) => Math.max(...values), 1, Infinity]],
  ["abs", one(Math.abs)],
  ["sqrt", one(Math.sqrt)],
  ["ln", one(Math.log)],
  ["exp", one(Math.exp)],
]);
