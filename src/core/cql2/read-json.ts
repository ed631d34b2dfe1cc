/** Reads CQL2 JSON to a filter, and checks that every operator has the operands that it needs. */
import { rectangle } from "../geometry/boxes.ts";
import { bboxSchema, searchGeometry } from "../geometry/geometry.ts";
import type { SearchGeometry } from "../geometry/geometry.ts";
import { isJsonObject } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isDay, isMoment } from "../model/moment.ts";
import { arithmetics, comparisons, invalidFilter, temporals } from "./ast.ts";
import { checkList } from "./check-size.ts";
import type { Arithmetic, Comparison, Filter, Scalar, Temporal, Time } from "./ast.ts";

const mostLevels = 100;

export function readFilter(json: Json, level = 0): Filter {
  if (level > mostLevels) throw invalidFilter("The filter is nested too deeply.");
  if (typeof json === "boolean") return { kind: "constant", value: json };
  const { op, args } = operation(json);
  const arg = (index: number): Json => args[index] ?? null;
  const scalar = (index: number) => readScalar(arg(index), level + 1);
  const lower = op.toLowerCase();
  if (lower === "and" || lower === "or") {
    if (args.length < 1) throw invalidFilter(`"${op}" needs operands.`);
    const parts = args.map((each) => readFilter(each, level + 1));
    return { kind: lower === "and" ? "all" : "any", parts };
  }
  if (lower === "not") {
    count(op, args, 1);
    return { kind: "not", part: readFilter(arg(0), level + 1) };
  }
  if (isOneOf(comparisons, op)) {
    count(op, args, 2);
    return { kind: "compare", op: op satisfies Comparison, left: scalar(0), right: scalar(1) };
  }
  if (lower === "between") {
    const pair = arg(1);
    if (args.length === 2 && Array.isArray(pair) && pair.length === 2) {
      // As drafts of CQL2 wrote it, which clients still send.
      const [low, high] = (pair as Json[]).map((each) => readScalar(each, level + 1));
      if (low !== undefined && high !== undefined)
        return { kind: "between", value: scalar(0), low, high };
    }
    count(op, args, 3);
    return { kind: "between", value: scalar(0), low: scalar(1), high: scalar(2) };
  }
  if (lower === "in") {
    count(op, args, 2);
    const list = arg(1);
    if (!Array.isArray(list)) throw invalidFilter('"in" needs a list.');
    const values = checkList(list as readonly Json[]).map((each) => readScalar(each, level + 1));
    return { kind: "in", value: scalar(0), list: values };
  }
  if (lower === "like") {
    count(op, args, 2);
    return { kind: "like", value: scalar(0), pattern: scalar(1) };
  }
  if (lower === "isnull") {
    count(op, args, 1);
    return { kind: "is_null", value: scalar(0) };
  }
  if (lower === "s_intersects") {
    count(op, args, 2);
    return readIntersects(arg(0), arg(1));
  }
  if (isOneOf(temporals, op)) {
    count(op, args, 2);
    const temporal: Temporal = op;
    return { kind: "temporal", op: temporal, left: readTime(arg(0)), right: readTime(arg(1)) };
  }
  throw invalidFilter(`"${op}" is not an operator that can be used here.`);
}

function readScalar(json: Json, level: number): Scalar {
  if (level > mostLevels) throw invalidFilter("The filter is nested too deeply.");
  if (typeof json === "string" || typeof json === "number" || typeof json === "boolean") {
    return { kind: "literal", value: json };
  }
  if (!isJsonObject(json)) throw invalidFilter(`${shorten(json)} is not a value.`);
  if (Object.hasOwn(json, "property")) return { kind: "property", name: propertyName(json) };
  if (Object.hasOwn(json, "timestamp")) return { kind: "moment", at: timestamp(json["timestamp"]) };
  if (Object.hasOwn(json, "date")) {
    return { kind: "moment", at: `${date(json["date"])}T00:00:00Z` };
  }
  const { op, args } = operation(json);
  const operand = (index: number) => readScalar(args[index] ?? null, level + 1);
  if (op.toLowerCase() === "casei") {
    count(op, args, 1);
    return { kind: "casei", value: operand(0) };
  }
  if (isOneOf(arithmetics, op)) {
    count(op, args, 2);
    const arithmetic: Arithmetic = op;
    return { kind: "arithmetic", op: arithmetic, left: operand(0), right: operand(1) };
  }
  throw invalidFilter(`"${op}" gives no value that can be compared.`);
}

function readIntersects(a: Json, b: Json): Filter {
  const [property, literal] = isProperty(a) ? [a, b] : [b, a];
  if (!isProperty(property)) throw invalidFilter('"s_intersects" needs a property and a geometry.');
  return { kind: "intersects", property: propertyName(property), geometry: readGeometry(literal) };
}

function readGeometry(json: Json): SearchGeometry {
  const bbox = isJsonObject(json) && Object.hasOwn(json, "bbox") && !Object.hasOwn(json, "type");
  if (bbox) {
    const parsed = bboxSchema.safeParse(json["bbox"]);
    if (parsed.success) return rectangle(parsed.data);
  }
  const parsed = searchGeometry.safeParse(json);
  if (!parsed.success) throw invalidFilter(`${shorten(json)} is not a geometry.`);
  return parsed.data;
}

function readTime(json: Json): Time {
  if (isProperty(json)) return { kind: "property", name: propertyName(json) };
  if (!isJsonObject(json)) throw invalidFilter(`${shorten(json)} is not a time.`);
  if (Object.hasOwn(json, "interval")) {
    const ends = json["interval"];
    if (!Array.isArray(ends) || ends.length !== 2) throw invalidFilter("An interval has two ends.");
    const [start, end] = (ends as readonly Json[]).map((each) =>
      each === ".." ? null : instant(each),
    );
    return { kind: "span", start: start?.start ?? null, end: end?.end ?? null };
  }
  const { start, end } = instant(json);
  return { kind: "span", start, end };
}

/** A date stands for its whole day. */
function instant(json: Json): { start: string; end: string } {
  const inner = isJsonObject(json) ? (json["timestamp"] ?? json["date"]) : json;
  if (typeof inner === "string" && /^\d{4}-\d\d-\d\d$/.test(inner)) {
    const day = date(inner);
    return { start: `${day}T00:00:00Z`, end: `${day}T23:59:59.999999Z` };
  }
  const at = timestamp(inner);
  return { start: at, end: at };
}

function timestamp(json: Json | undefined): string {
  if (typeof json === "string" && isMoment(json)) return json;
  throw invalidFilter(`${shorten(json)} is not a time such as 2024-05-01T12:00:00Z.`);
}

function date(json: Json | undefined): string {
  if (typeof json === "string" && isDay(json)) return json;
  throw invalidFilter(`${shorten(json)} is not a date such as 2024-05-01.`);
}

function operation(json: Json): { op: string; args: readonly Json[] } {
  if (isJsonObject(json) && Object.hasOwn(json, "op") && Object.hasOwn(json, "args")) {
    const { op, args } = json as { op: Json; args: Json };
    if (typeof op === "string" && Array.isArray(args)) return { op, args: args as readonly Json[] };
  }
  throw invalidFilter(`${shorten(json)} is not a condition.`);
}

function count(op: string, args: readonly Json[], needed: number): void {
  if (args.length === needed) return;
  throw invalidFilter(`"${op}" takes ${needed} operands, not ${args.length}.`);
}

function isProperty(json: Json): json is JsonObject {
  return isJsonObject(json) && Object.hasOwn(json, "property");
}

function propertyName(json: JsonObject): string {
  const name = json["property"];
  if (typeof name === "string" && name !== "" && name.length <= 255) return name;
  throw invalidFilter("A property is named by a text.");
}

function isOneOf<const Value extends string>(
  values: readonly Value[],
  text: string,
): text is Value {
  return (values as readonly string[]).includes(text);
}

function shorten(json: Json | undefined): string {
  const text = json === undefined ? "nothing" : JSON.stringify(json);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
