/** The types of Parquet as columns of a layer, and their values as text. */
import type { SchemaElement } from "hyparquet";
import type { GeoColumn } from "../../core/vector/geo-table.ts";

type Type = GeoColumn["type"];

export function columnType(element: SchemaElement): Type {
  if ((element.num_children ?? 0) > 0) return "jsonb";
  const logical = element.logical_type;
  const { converted_type: converted, type } = element;
  if (logical?.type === "DATE" || converted === "DATE") return "date";
  if (logical?.type === "TIME") return "time";
  if (logical?.type === "TIMESTAMP" || converted?.startsWith("TIMESTAMP") === true) {
    return "timestamptz";
  }
  if (logical?.type === "JSON" || converted === "JSON") return "jsonb";
  if (logical?.type === "DECIMAL" || converted === "DECIMAL") return "double precision";
  const isText =
    logical?.type === "STRING" ||
    logical?.type === "ENUM" ||
    logical?.type === "UUID" ||
    converted === "UTF8" ||
    converted === "ENUM";
  if (isText) return "text";
  switch (type) {
    case "BOOLEAN":
      return "boolean";
    case "INT32":
      return converted === "UINT_32" ? "bigint" : "integer";
    case "INT64":
      // An unsigned one may be larger than any column of integers.
      return converted === "UINT_64" ? "text" : "bigint";
    case "INT96":
      return "timestamptz";
    case "FLOAT":
    case "DOUBLE":
      return "double precision";
    default:
      return "text";
  }
}

/** Undefined: there is no value. */
export function textOf(value: unknown, type: Type): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) return undefined;
    return type === "date" ? value.toISOString().slice(0, 10) : value.toISOString();
  }
  if (type === "jsonb") return JSON.stringify(value, plain);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  return typeof value === "string" || typeof value === "bigint"
    ? `${value}`
    : JSON.stringify(value, plain);
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
