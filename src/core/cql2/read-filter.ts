import type { Json } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import type { Comparison, Filter, Scalar } from "./ast.ts";
import { invalidFilter } from "./ast.ts";
import { checkConditions, checkList, checkSize } from "./check-size.ts";
import { parseText } from "./parse-text.ts";
import { readFilter } from "./read-json.ts";

export function filterFromText(text: string): Filter {
  return readFilter(checkSize(parseText(text)));
}

export function filterFromJson(json: Json): Filter {
  return readFilter(checkSize(json));
}

const operators = new Map<string, Comparison>([
  ["eq", "="],
  ["neq", "<>"],
  ["lt", "<"],
  ["lte", "<="],
  ["gt", ">"],
  ["gte", ">="],
]);

/** Reads STAC's query extension, `{"eo:cloud_cover": {"lt": 10}}`. */
export function filterFromQuery(query: Json): Filter {
  checkSize(query);
  if (!isJsonObject(query)) throw invalidFilter("The query must be an object of properties.");
  const parts = Object.entries(query).flatMap(([name, tests]) => {
    if (!isJsonObject(tests)) throw invalidFilter(`The query of "${name}" must name operators.`);
    return Object.entries(tests).map(([op, value]) => readTest(name, op, value));
  });
  checkConditions(parts.length);
  return { kind: "all", parts: parts.length === 0 ? [{ kind: "constant", value: true }] : parts };
}

function readTest(name: string, op: string, value: Json): Filter {
  const property: Scalar = { kind: "property", name };
  const comparison = operators.get(op);
  if (comparison !== undefined) {
    if (value === null && (op === "eq" || op === "neq")) {
      const missing: Filter = { kind: "is_null", value: property };
      return op === "eq" ? missing : { kind: "not", part: missing };
    }
    return { kind: "compare", op: comparison, left: property, right: literal(value) };
  }
  if (op === "in") {
    if (!Array.isArray(value)) throw invalidFilter(`"in" needs a list for "${name}".`);
    const list = checkList(value as readonly Json[]);
    return { kind: "in", value: property, list: list.map(literal) };
  }
  const like = (pattern: string): Filter => ({
    kind: "like",
    value: property,
    pattern: { kind: "literal", value: pattern },
  });
  if (op === "startsWith") return like(`${escape(value)}%`);
  if (op === "endsWith") return like(`%${escape(value)}`);
  if (op === "contains") return like(`%${escape(value)}%`);
  throw invalidFilter(`"${op}" is not an operator of a query.`);
}

function literal(value: Json): Scalar {
  if (typeof value === "object")
    throw invalidFilter("A query compares with texts, numbers or booleans.");
  return { kind: "literal", value };
}

function escape(value: Json): string {
  if (typeof value !== "string") throw invalidFilter("This operator needs a text.");
  return value.replaceAll(/[\\%_]/g, "\\$&");
}
