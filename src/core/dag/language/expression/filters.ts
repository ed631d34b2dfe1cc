import type { Json } from "../../../model/json.ts";
import { mostChildren } from "../../../model/limits.ts";
import type { Evaluate, Scope } from "./scope.ts";
import { Failure, Missing, demand, isList, typeName } from "./scope.ts";
import { isTruthy, keysOf, toJson, toText } from "./operators.ts";

export interface Filter {
  /** Names of the arguments, in order; all may be left out. */
  readonly parameters: readonly string[];
  /** The filter accepts a missing value. */
  readonly optional?: true;
  compile(operand: Evaluate, args: readonly (Evaluate | undefined)[]): Evaluate;
}

const defaultFilter: Filter = {
  parameters: ["default_value", "boolean"],
  optional: true,
  compile: (operand, [fallback, boolean]) => {
    return (scope) => {
      const value = operand(scope);
      if (!(value instanceof Missing)) {
        const coversEmpty = boolean !== undefined && isTruthy(demand(boolean(scope)), scope);
        if (!coversEmpty || isTruthy(value, scope)) return value;
      }
      return fallback === undefined ? "" : fallback(scope);
    };
  },
};

const lengthFilter = plain((value, scope) => {
  if (typeof value === "string") {
    scope.spendOn(value.length, "characters");
    // Counts characters, not UTF-16 units.
    return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  }
  if (typeof value !== "object" || value === null) {
    throw new Failure(`length needs a list, a string or an object, but here is ${typeName(value)}`);
  }
  return isList(value) ? value.length : keysOf(value, scope).length;
});

export const filters: ReadonlyMap<string, Filter> = new Map([
  ["default", defaultFilter],
  ["d", defaultFilter],
  ["length", lengthFilter],
  ["count", lengthFilter],
  ["range", plain(toRange)],
  ["lower", onString("lower", (text) => text.toLowerCase())],
  ["upper", onString("upper", (text) => text.toUpperCase())],
  ["join", { parameters: ["d"], compile: compileJoin }],
  ["tojson", plain(toJson)],
  // Jinja turns text that is not a number into 0; here it is an error unless a default is given.
  ["int", toNumber("int", (number) => Math.trunc(number))],
  ["float", toNumber("float", (number) => number)],
]);

/** The numbers from zero to n - 1, for a fan-out of n tasks. */
function toRange(value: Json, scope: Scope): Json {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > mostChildren) {
    throw new Failure(`range needs a whole number from 0 to ${mostChildren}`);
  }
  scope.spendOn(value, "numbers");
  return Array.from({ length: value }, (_, index) => index);
}

function plain(apply: (value: Json, scope: Scope) => Json): Filter {
  return {
    parameters: [],
    compile: (operand) => (scope) => {
      scope.spend(1);
      return apply(demand(operand(scope)), scope);
    },
  };
}

function onString(name: string, apply: (text: string) => string): Filter {
  return plain((value, scope) => {
    if (typeof value !== "string") {
      throw new Failure(`${name} needs a string, but here is ${typeName(value)}`);
    }
    scope.allowLength(value.length);
    return apply(value);
  });
}

function compileJoin(operand: Evaluate, [separator]: readonly (Evaluate | undefined)[]): Evaluate {
  return (scope) => {
    scope.spend(1);
    const list = demand(operand(scope));
    const between = separator === undefined ? "" : demand(separator(scope));
    if (typeof list !== "object" || list === null || !isList(list)) {
      throw new Failure(`join needs a list, but here is ${typeName(list)}`);
    }
    if (typeof between !== "string") {
      throw new Failure(`join needs a string between, but here is ${typeName(between)}`);
    }
    const parts: string[] = [];
    let length = 0;
    for (const element of list) {
      const part = toText(element, scope);
      length += part.length + between.length;
      scope.spendOn(part.length + between.length + 1, "characters");
      parts.push(part);
    }
    scope.allowLength(length - (list.length === 0 ? 0 : between.length));
    return parts.join(between);
  };
}

const numeral = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const longestNumeral = 400;

function toNumber(name: string, round: (number: number) => number): Filter {
  return {
    parameters: ["default"],
    compile: (operand, [fallback]) => {
      return (scope) => {
        scope.spend(1);
        const value = demand(operand(scope));
        const number = readNumber(value);
        if (number !== undefined) {
          const result = round(number);
          if (Number.isFinite(number) && (name !== "int" || Number.isSafeInteger(result))) {
            return result === 0 ? 0 : result;
          }
        }
        if (fallback !== undefined) return fallback(scope);
        const shown =
          typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeName(value);
        throw new Failure(`${name} cannot read ${shown}; give a default: ${name}(0)`);
      };
    },
  };
}

function readNumber(value: Json): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string" || value.length > longestNumeral) return undefined;
  return numeral.test(value) ? Number(value) : undefined;
}

/** The tests that may follow `is`, besides `defined` and `undefined`. */
export const tests: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ["none", (value: Json) => value === null],
  ["null", (value: Json) => value === null],
  ["true", (value: Json) => value === true],
  ["false", (value: Json) => value === false],
  ["boolean", (value: Json) => typeof value === "boolean"],
  ["string", (value: Json) => typeof value === "string"],
  ["number", (value: Json) => typeof value === "number"],
  ["integer", (value: Json) => Number.isInteger(value)],
  ["float", (value: Json) => typeof value === "number" && !Number.isInteger(value)],
  ["mapping", (value: Json) => typeof value === "object" && value !== null && !isList(value)],
]);
