/**
 * Writes the features of a layer as GeoParquet 1.1: WKB, longitude and latitude on WGS 84. The bounds
 * of each feature stand in a column of their own. Each page becomes a row group, so a reader skips
 * the groups whose bounds do not meet its window, if the pages are sorted in space.
 */
import { ParquetWriter, fileWriter } from "hyparquet-writer";
import type { SchemaElement } from "hyparquet";
import type { GeoColumn } from "../../core/vector/geo-table.ts";
import type { Bounds } from "../../core/vector/parts.ts";

export interface LayerToWrite {
  readonly columns: readonly GeoColumn[];
  readonly geometry_type: string;
  readonly bounds: Bounds | null;
}

interface Row {
  readonly wkb: Uint8Array;
  readonly properties: Record<string, unknown>;
  /** Null: the geometry is empty. */
  readonly bounds: Bounds | null;
}

const sides = ["xmin", "ymin", "xmax", "ymax"] as const;

export async function writeGeoParquet(
  file: string,
  layer: LayerToWrite,
  pages: AsyncIterable<readonly Row[]>,
): Promise<number> {
  const [geometryName, boxName] = [nameFor(layer, "geometry"), nameFor(layer, "bbox")];
  const geometry = {
    encoding: "WKB",
    geometry_types: [layer.geometry_type],
    orientation: "counterclockwise",
    ...(layer.bounds === null ? {} : { bbox: layer.bounds }),
    covering: { bbox: Object.fromEntries(sides.map((side) => [side, [boxName, side]])) },
  };
  const geo = {
    version: "1.1.0",
    primary_column: geometryName,
    columns: { [geometryName]: geometry },
  };
  const schema: SchemaElement[] = [
    { name: "root", num_children: layer.columns.length + 2 },
    ...layer.columns.map(elementOf),
    { name: geometryName, type: "BYTE_ARRAY", repetition_type: "REQUIRED" },
    { name: boxName, repetition_type: "OPTIONAL", num_children: sides.length },
    ...sides.map((name) => ({ name, type: "DOUBLE", repetition_type: "REQUIRED" }) as const),
  ];
  const kvMetadata = [{ key: "geo", value: JSON.stringify(geo) }];
  const writer = new ParquetWriter({ writer: fileWriter(file), schema, kvMetadata });
  let count = 0;
  for await (const rows of pages) {
    const columnData = [
      ...layer.columns.map(({ name, type }) => ({
        name,
        data: rows.map(({ properties }) => valueOf(properties[name], type)),
      })),
      // The writer takes Uint8Array, and treats its subclass Buffer as something else.
      { name: geometryName, data: rows.map(({ wkb }) => new Uint8Array(wkb)) },
      { name: boxName, data: rows.map(({ bounds }) => boxOf(bounds)) },
    ];
    await writer.write({ columnData, rowGroupSize: rows.length });
    count += rows.length;
  }
  await writer.finish();
  return count;
}

/** Columns of the layer keep their names. */
function nameFor({ columns }: LayerToWrite, wanted: string): string {
  const taken = new Set(columns.map(({ name }) => name));
  let name = wanted;
  while (taken.has(name)) name = `${name}_`;
  return name;
}

function boxOf(bounds: Bounds | null): Record<string, number> | undefined {
  if (bounds === null) return undefined;
  const [xmin, ymin, xmax, ymax] = bounds;
  return { xmin, ymin, xmax, ymax };
}

function elementOf({ name, type }: GeoColumn): SchemaElement {
  const optional = { name, repetition_type: "OPTIONAL" } as const;
  switch (type) {
    case "boolean":
      return { ...optional, type: "BOOLEAN" };
    case "integer":
      return { ...optional, type: "INT32" };
    case "bigint":
      return { ...optional, type: "INT64" };
    case "double precision":
      return { ...optional, type: "DOUBLE" };
    case "date":
      return { ...optional, type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } };
    case "timestamptz":
      return {
        ...optional,
        type: "INT64",
        converted_type: "TIMESTAMP_MICROS",
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
      };
    default:
      return {
        ...optional,
        type: "BYTE_ARRAY",
        converted_type: "UTF8",
        logical_type: { type: "STRING" },
      };
  }
}

/** The value as the writer takes it, from the form that features have in JSON. */
function valueOf(value: unknown, type: GeoColumn["type"]): unknown {
  if (value === null || value === undefined) return undefined;
  switch (type) {
    case "boolean":
    case "integer":
    case "double precision":
      return value;
    case "bigint":
      return BigInt(value as string | number);
    case "date":
      return new Date(`${value as string}T00:00:00Z`);
    case "timestamptz":
      return microseconds(value as string);
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}

/** Of `2024-02-29T10:00:00.123456Z`: a Date holds milliseconds only. */
function microseconds(text: string): bigint {
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? "";
  const whole = Date.parse(text.replace(/\.\d+Z$/, "Z"));
  return BigInt(whole) * 1000n + BigInt(fraction.padEnd(6, "0"));
}
