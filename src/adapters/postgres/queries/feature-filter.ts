/**
 * Writes a filter as a condition on the columns of a layer. Names are checked, and values are
 * parameters.
 */
import { escapeIdentifier } from "pg";
import { bboxOf } from "../../../core/geometry/boxes.ts";
import type { SearchGeometry } from "../../../core/geometry/geometry.ts";
import type { Filter, Scalar, Time } from "../../../core/cql2/ast.ts";
import { invalidFilter } from "../../../core/cql2/ast.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { Conditions } from "./conditions.ts";
import type { GeoTable } from "./geo-tables.ts";
import { boundsCondition } from "./feature-sql.ts";

type Category = "text" | "number" | "boolean" | "time" | "other";

const categories: Readonly<Record<GeoColumn["type"], Category>> = {
  text: "text",
  boolean: "boolean",
  integer: "number",
  bigint: "number",
  "double precision": "number",
  date: "time",
  time: "other",
  timestamptz: "time",
  jsonb: "other",
  bytea: "other",
  "text[]": "other",
  "integer[]": "other",
  "bigint[]": "other",
  "double precision[]": "other",
};

interface Term {
  readonly text: string;
  readonly category: Category;
}

export function filterCondition(table: GeoTable, filter: Filter, conditions: Conditions): string {
  const value = (given: unknown, type: string) => `${conditions.value(given)}::${type}`;

  function condition(part: Filter): string {
    switch (part.kind) {
      case "all":
      case "any":
        if (part.parts.length === 0) return part.kind === "all" ? "true" : "false";
        return `(${part.parts.map(condition).join(part.kind === "all" ? " AND " : " OR ")})`;
      case "not":
        return `(NOT ${condition(part.part)})`;
      case "constant":
        return String(part.value);
      case "compare": {
        const [left, right] = comparable(part.left, part.right);
        return `(${left} ${part.op} ${right})`;
      }
      case "between": {
        const [is, low] = comparable(part.value, part.low);
        const [, high] = comparable(part.value, part.high);
        return `(${is} BETWEEN ${low} AND ${high})`;
      }
      case "in":
        if (part.list.length === 0) return "false";
        return `(${part.list.map((each) => comparable(part.value, each).join(" = ")).join(" OR ")})`;
      case "like":
        return `(${textOf(part.value)} LIKE ${textOf(part.pattern)})`;
      case "is_null":
        return `(${term(part.value).text} IS NULL)`;
      case "intersects":
        return intersects(part.geometry);
      case "temporal":
        return temporal(part.op, part.left, part.right);
    }
  }

  function column(name: string): Term {
    if (name === "fid" || name === "id") return { text: "fid", category: "number" };
    const found = table.columns.find((each) => each.name === name);
    if (found === undefined) {
      const known = table.columns.map((each) => each.name).join(", ");
      throw invalidFilter(`The layer has no property "${name}"; it has: ${known}.`);
    }
    return { text: escapeIdentifier(name), category: categories[found.type] };
  }

  function term(scalar: Scalar): Term {
    switch (scalar.kind) {
      case "property":
        return column(scalar.name);
      case "literal":
        if (typeof scalar.value === "number") {
          return { text: value(scalar.value, "double precision"), category: "number" };
        }
        return typeof scalar.value === "boolean"
          ? { text: value(scalar.value, "boolean"), category: "boolean" }
          : { text: value(scalar.value, "text"), category: "text" };
      case "moment":
        return { text: value(scalar.at, "timestamptz"), category: "time" };
      case "casei":
        return { text: `lower(${textOf(scalar.value)})`, category: "text" };
      case "arithmetic": {
        const [left, right] = [scalar.left, scalar.right].map((each) => {
          const { text, category } = term(each);
          if (category !== "number") throw invalidFilter("Only numbers can be calculated with.");
          return `${text}::double precision`;
        });
        if (scalar.op === "/")
          return { text: `(${left} / NULLIF(${right}, 0))`, category: "number" };
        if (scalar.op === "%") {
          const text = `mod((${left})::numeric, NULLIF((${right})::numeric, 0))`;
          return { text: `${text}::double precision`, category: "number" };
        }
        return { text: `(${left} ${scalar.op} ${right})`, category: "number" };
      }
    }
  }

  function textOf(scalar: Scalar): string {
    const { text, category } = term(scalar);
    if (category === "text") return text;
    throw invalidFilter("Only text can be compared with a pattern or without case.");
  }

  function comparable(left: Scalar, right: Scalar): [string, string] {
    const [a, b] = [term(left), term(right)];
    if (a.category === "other" || b.category === "other") {
      throw invalidFilter("Lists, objects, times of day and bytes cannot be compared.");
    }
    if (a.category !== b.category) {
      throw invalidFilter(
        `A value that is ${a.category} cannot be compared with one that is ${b.category}.`,
      );
    }
    // Text is compared by code point, so that the order does not depend on the database's
    // collation.
    const collation = a.category === "text" ? ' COLLATE "C"' : "";
    return [a.text + collation, b.text];
  }

  /** Without PostGIS it compares boxes, so callers must test the geometries of the rows again. */
  function intersects(geometry: SearchGeometry): string {
    if (table.form === "postgis") {
      const given = conditions.value(JSON.stringify(geometry));
      return `ST_Intersects(geom, ST_SetSRID(ST_GeomFromGeoJSON(${given}), 4326))`;
    }
    return boundsCondition(table, bboxOf(geometry), conditions);
  }

  function temporal(op: string, left: Time, right: Time): string {
    const isTurned = left.kind === "span";
    const [property, span] = isTurned ? [right, left] : [left, right];
    if (property.kind !== "property" || span.kind !== "span") {
      throw invalidFilter("A property must be compared with a time or an interval.");
    }
    const { text, category } = column(property.name);
    if (category !== "time") throw invalidFilter(`"${property.name}" is no date.`);
    // Each use gets its own parameter, because PostgreSQL cannot find the type of an unused one.
    const compare = (operator: string, at: string | null) =>
      at === null ? undefined : `${text} ${operator} ${value(at, "timestamptz")}`;
    const within = (less: string, more: string) =>
      [compare(more, span.start), compare(less, span.end)]
        .filter((each) => each !== undefined)
        .join(" AND ") || "true";
    const after = () => compare(">", span.end) ?? "false";
    const before = () => compare("<", span.start) ?? "false";
    switch (op) {
      case "t_after":
        return `(${isTurned ? before() : after()})`;
      case "t_before":
        return `(${isTurned ? after() : before()})`;
      case "t_intersects":
      case "t_contains":
        return `(${within("<=", ">=")})`;
      case "t_during":
        return `(${within("<", ">")})`;
      case "t_disjoint":
        return `(NOT (${within("<=", ">=")}))`;
      case "t_equals":
        return `(${compare("=", span.start) ?? "false"} AND ${compare("=", span.end) ?? "false"})`;
      default:
        throw invalidFilter(
          `"${op}" compares intervals, and the properties of features are moments.`,
        );
    }
  }

  return condition(filter);
}
