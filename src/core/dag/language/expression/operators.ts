import type { Json, JsonObject } from "../../../model/json.ts";
import type { Scope } from "./scope.ts";
import { Failure, isList, typeName } from "./scope.ts";

/** False for null, false, zero and everything empty, as in Jinja. */
export function isTruthy(value: Json, scope: Scope): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return isList(value) ? value.length > 0 : keysOf(value, scope).length > 0;
}

/** Charges for every key, because `Object.keys` collects all of them even to test for one. */
export function keysOf(value: JsonObject, scope: Scope): readonly string[] {
  const keys = Object.keys(value);
  scope.spendOn(keys.length, "keys");
  return keys;
}

export function isEqual(left: Json, right: Json, scope: Scope, depth = 0): boolean {
  if (typeof left === "string" && typeof right === "string") {
    if (left.length !== right.length) return false;
    scope.spendOn(left.length, "characters");
    return left === right;
  }
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return false;
  }
  scope.guardDepth(depth);
  if (isList(left)) {
    if (!isList(right) || left.length !== right.length) return false;
    scope.spendOn(left.length, "elements");
    return left.every((element, index) => isEqual(element, right[index] as Json, scope, depth + 1));
  }
  if (isList(right)) return false;
  const keys = keysOf(left, scope);
  if (keys.length !== keysOf(right, scope).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) && isEqual(left[key] as Json, right[key] as Json, scope, depth + 1),
  );
}

export type Ordering = "<" | "<=" | ">" | ">=";

export function isOrdered(operator: Ordering, left: Json, right: Json, scope: Scope): boolean {
  if (typeof left === "string" && typeof right === "string") {
    scope.spendOn(Math.min(left.length, right.length), "characters");
  } else if (typeof left !== "number" || typeof right !== "number") {
    throw new Failure(
      `${operator} needs two numbers or two strings, but here are ${typeName(left)} and ${typeName(right)}`,
    );
  }
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

/** Tests for an element of a list, a part of a string, or a key of an object. */
export function isIn(part: Json, whole: Json, scope: Scope, operator = "in"): boolean {
  if (typeof whole === "string") {
    if (typeof part !== "string") {
      throw new Failure(`a string contains strings only, but here is ${typeName(part)}`);
    }
    scope.spendOn(whole.length * Math.min(part.length, whole.length), "comparisons");
    return whole.includes(part);
  }
  if (typeof whole !== "object" || whole === null) {
    throw new Failure(
      `${operator} needs a list, a string or an object to look in, but here is ${typeName(whole)}`,
    );
  }
  if (!isList(whole)) return typeof part === "string" && Object.hasOwn(whole, part);
  scope.spendOn(whole.length, "elements");
  return whole.some((element) => isEqual(element, part, scope));
}

/** Writes a value as a part of a text. */
export function toText(value: Json, scope: Scope): string {
  if (typeof value === "string") return value;
  if (value === null) {
    throw new Failure(
      "null cannot stand inside text; say what to write instead: default('', true)",
    );
  }
  return typeof value === "object" ? toJson(value, scope) : String(value);
}

export function toJson(value: Json, scope: Scope): string {
  // Escapes can make the text six times as long as `weigh` says, so the result is measured again.
  scope.allowLength(scope.weigh(value));
  const json = JSON.stringify(value);
  scope.allowLength(json.length);
  return json;
}

export function concatenate(left: Json, right: Json, scope: Scope): string {
  const first = toText(left, scope);
  const second = toText(right, scope);
  scope.allowLength(first.length + second.length);
  return first + second;
}

export function add(left: Json, right: Json, scope: Scope): Json {
  if (typeof left === "string" && typeof right === "string") return concatenate(left, right, scope);
  if (typeof left === "object" && typeof right === "object" && left !== null && right !== null) {
    if (isList(left) && isList(right)) {
      scope.allowElements(left.length + right.length);
      return [...left, ...right];
    }
  }
  if (typeof left !== "number" || typeof right !== "number") {
    throw new Failure(
      `+ needs two numbers, two strings or two lists, but here are ${typeName(left)} and ${typeName(right)}; ~ joins anything as text`,
    );
  }
  return arithmetic("+", left, right);
}

export type Arithmetic = "+" | "-" | "*" | "/" | "//" | "%";

export function arithmetic(operator: Arithmetic, left: Json, right: Json): number {
  if (typeof left !== "number" || typeof right !== "number") {
    throw new Failure(
      `${operator} needs two numbers, but here are ${typeName(left)} and ${typeName(right)}`,
    );
  }
  const result = compute(operator, left, right);
  const exact = Number.isInteger(left) && Number.isInteger(right) && operator !== "/";
  if (!Number.isFinite(result) || (exact && !Number.isSafeInteger(result))) {
    throw new Failure(`${left} ${operator} ${right} is too large a number`);
  }
  // No negative zero: JSON has none, and `-0` would print where 0 is meant.
  return result === 0 ? 0 : result;
}

function compute(operator: Arithmetic, left: number, right: number): number {
  if (right === 0 && (operator === "/" || operator === "//" || operator === "%")) {
    throw new Failure(`${left} ${operator} 0 is a division by zero`);
  }
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "//":
      return Math.floor(left / right);
    case "%": {
      // The sign follows the divisor, as in Jinja.
      const rest = left % right;
      return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
    }
  }
}
