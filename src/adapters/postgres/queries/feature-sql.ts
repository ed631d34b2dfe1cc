import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import { quoteName } from "../identifier.ts";
import type { GeoTable } from "./geo-tables.ts";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { Conditions } from "./conditions.ts";

/**
 * A column as JSON has it: the driver would make local times of dates, and refuse integers that a
 * JavaScript number cannot hold.
 */
export function selectColumn({ name, type }: GeoColumn): string {
  const column = quoteName(name);
  switch (type) {
    case "bigint":
    case "date":
    case "time":
      return `${column}::text AS ${column}`;
    case "timestamptz":
      return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`;
    case "bytea":
      return `encode(${column}, 'base64') AS ${column}`;
    case "bigint[]":
      return `${column}::text[] AS ${column}`;
    default:
      return column;
  }
}

/** What came back of such a column. */
export function readValue(type: GeoColumn["type"], value: unknown): unknown {
  if (type === "bigint" && typeof value === "string") return exact(value);
  if (type === "bigint[]" && Array.isArray(value)) {
    return value.map((each) => (typeof each === "string" ? exact(each) : null));
  }
  // JSON knows no NaN and no infinity.
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  return value;
}

function exact(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

export function tableText({ table_name }: Pick<GeoTable, "table_name">): string {
  return `geo.${quoteName(table_name)}`;
}

/** Whatever its form, as WKB. */
export function geometryText({ form }: Pick<GeoTable, "form">): string {
  return form === "postgis" ? "ST_AsBinary(geom)" : "geom";
}

/**
 * Features in a box; west is greater than east across the antimeridian. With PostGIS a feature must
 * really touch the box, and otherwise its own box must.
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
