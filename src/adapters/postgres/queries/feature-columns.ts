import { escapeIdentifier } from "pg";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { GeoTable } from "./geo-tables.ts";

/**
 * A column as JSON has it: the driver would make local times of dates, and refuse integers that a
 * JavaScript number cannot hold.
 */
export function selectColumn({ name, type }: GeoColumn): string {
  const column = escapeIdentifier(name);
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
  return `geo.${escapeIdentifier(table_name)}`;
}

/** Whatever its form, as WKB. */
export function geometryText({ form }: Pick<GeoTable, "form">): string {
  return form === "postgis" ? "ST_AsBinary(geom)" : "geom";
}
