import { escapeIdentifier } from "pg";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { GeoTable } from "./geo-tables.ts";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { Conditions } from "./conditions.ts";

/**
 * Selects a column in the form that JSON has: the driver would turn dates into local times, and
 * JavaScript numbers cannot hold every bigint.
 */
export function selectColumn({ name, type }: GeoColumn): string {
  const column = escapeIdentifier(name);
  switch (type) {
    case "bigint":
    case "date":
    case "time":
    case "jsonb":
      return `${column}::text AS ${column}`;
    case "timestamptz":
      return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ${column}`;
    case "bytea":
      return `encode(${column}, 'base64') AS ${column}`;
    case "bigint[]":
      return `${column}::text[] AS ${column}`;
    default:
      return column;
  }
}

/**
 * Reads the value of a column that `selectColumn` selected. JSON has neither NaN nor infinity; `isForFile`
 * keeps them.
 */
export function readValue(type: GeoColumn["type"], value: unknown, isForFile = false): unknown {
  if (type === "bigint" && typeof value === "string") return exact(value);
  if (type === "bigint[]" && Array.isArray(value)) {
    return value.map((each) => (typeof each === "string" ? exact(each) : null));
  }
  if (type === "jsonb" && typeof value === "string") return JSON.parse(quoteLongNumbers(value));
  // Microseconds are kept where there are any.
  if (type === "timestamptz" && typeof value === "string") return value.replace(/000Z$/, "Z");
  if (typeof value === "number" && !Number.isFinite(value) && !isForFile) return null;
  return value;
}

function exact(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** A text, or a number of JSON. */
const jsonToken = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Integers that JavaScript would round become texts, as in a column of them. */
function quoteLongNumbers(json: string): string {
  if (!/\d{16}/.test(json)) return json;
  return json.replaceAll(jsonToken, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
}

export function tableText({ table_name }: Pick<GeoTable, "table_name">): string {
  return `geo.${escapeIdentifier(table_name)}`;
}

/** The geometry as WKB, in both forms of table. */
export function geometryText({ form }: Pick<GeoTable, "form">): string {
  return form === "postgis" ? "ST_AsBinary(geom)" : "geom";
}

/**
 * The condition for features in a box; west is greater than east across the antimeridian. With
 * PostGIS the feature itself must intersect the box, otherwise its bounding box.
 */
export function boundsCondition(
  { form }: Pick<GeoTable, "form">,
  [west, south, east, north]: Bbox,
  conditions: Conditions,
): string {
  if (west > east) {
    const parts = (
      [
        [west, south, 180, north],
        [-180, south, east, north],
      ] as const
    ).map((part) => boundsCondition({ form }, part, conditions));
    return `(${parts.join(" OR ")})`;
  }
  const number = (value: number) => `${conditions.value(value)}::double precision`;
  if (form === "postgis") {
    const corners = [west, south, east, north].map(number).join(", ");
    return `ST_Intersects(geom, ST_MakeEnvelope(${corners}, 4326))`;
  }
  const corner = (x: number, y: number) => `point(${number(x)}, ${number(y)})`;
  return `bounds && box(${corner(east, north)}, ${corner(west, south)})`;
}
