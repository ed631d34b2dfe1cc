import type { Json } from "../../model/json.ts";
import { isEqual, isIn, isOrdered } from "./expression/operators.ts";
import type { Scope } from "./expression/scope.ts";
import { Failure, typeName } from "./expression/scope.ts";

export type Compare = (left: Json, right: Json, scope: Scope) => boolean;

/**
 * The operators that may stand between two operands. A comparison of types that do not compare
 * fails; it does not count as false.
 */
export const comparisons: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ["==", isEqual],
  ["!=", (left, right, scope) => !isEqual(left, right, scope)],
  ["<", (left, right, scope) => isOrdered("<", left, right, scope)],
  ["<=", (left, right, scope) => isOrdered("<=", left, right, scope)],
  [">", (left, right, scope) => isOrdered(">", left, right, scope)],
  [">=", (left, right, scope) => isOrdered(">=", left, right, scope)],
  ["in", isIn],
  ["not_in", (left, right, scope) => !isIn(left, right, scope, "not_in")],
  ["contains", (left, right, scope) => isIn(right, left, scope, "contains")],
  [
    "starts_with",
    (left, right, scope) => {
      const [text, part] = twoStrings("starts_with", left, right);
      scope.spendOn(part.length, "characters");
      return text.startsWith(part);
    },
  ],
  [
    "ends_with",
    (left, right, scope) => {
      const [text, part] = twoStrings("ends_with", left, right);
      scope.spendOn(part.length, "characters");
      return text.endsWith(part);
    },
  ],
]);

function twoStrings(operator: string, left: Json, right: Json): [string, string] {
  if (typeof left === "string" && typeof right === "string") return [left, right];
  throw new Failure(
    `${operator} needs two strings, but here are ${typeName(left)} and ${typeName(right)}`,
  );
}
