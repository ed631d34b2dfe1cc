/**
 * Reads GeoParquet without GDAL, whose builds mostly lack the driver, and writes it as CSV, which
 * GDAL then projects: geometries as hexadecimal WKB, values as text, and the columns' types apart.
 */
import { open } from "node:fs/promises";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { FileMetaData, SchemaElement } from "hyparquet";
import { z } from "zod";
import type { GeoColumn } from "../../core/vector/geo-table.ts";
import type { RawKind } from "../../core/vector/raw-values.ts";
import type { Bounds } from "../../core/vector/parts.ts";
import { boundedCompressors, checkFooter } from "./check-footer.ts";
import { ParquetError } from "./parquet-error.ts";
import { asIntegers, describeColumn, exactParsers, textOf } from "./parquet-values.ts";
import type { ParquetColumn } from "./parquet-values.ts";

export interface ReadParquet {
  readonly geometryColumn: string;
  /** Undefined: the file says that it is unknown. */
  readonly crs: string | undefined;
  readonly types: ReadonlyMap<string, GeoColumn["type"]>;
  /** Columns whose types are found from the digits of their values. */
  readonly rawColumns: ReadonlyMap<string, RawKind>;
  readonly featureCount: number;
  /** Dates that no database holds; they are left empty. */
  readonly droppedDates: number;
}

const rowsAtOnce = 20_000;

export async function readParquet(
  path: string,
  options: { readonly target: string; readonly geometryColumn: string | undefined },
): Promise<ReadParquet> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file).catch((error: unknown) => {
    throw new ParquetError("FILE_UNREADABLE", `The Parquet file cannot be read: ${words(error)}.`);
  });
  checkFooter(metadata, file.byteLength);
  const geometry = findGeometry(metadata, options.geometryColumn);
  const columns = rootColumns(metadata).filter(
    ({ name }) => name !== geometry.name && !geometry.coverings.has(name),
  );
  const exact = { ...metadata, schema: markRoots(metadata) };
  let droppedDates = 0;
  const cellOf = (value: unknown, column: ParquetColumn) => {
    const text = textOf(value, column);
    if (text === null) droppedDates += 1;
    return quoted(text ?? undefined);
  };
  const handle = await open(options.target, "w");
  const names = [geometry.name, ...columns.map(({ name }) => name)];
  try {
    await handle.write(`${names.map(quoted).join(",")}\n`);
    const count = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
    for (let rowStart = 0; rowStart < count; rowStart += rowsAtOnce) {
      const rowEnd = Math.min(count, rowStart + rowsAtOnce);
      const range = { rowStart, rowEnd, columns: names, useOffsetIndex: true };
      const rows = await parquetReadObjects({
        file,
        metadata: exact,
        compressors: boundedCompressors,
        parsers: exactParsers,
        utf8: false,
        ...range,
      }).catch((error: unknown) => {
        if (error instanceof ParquetError) throw error;
        throw new ParquetError(
          "FILE_UNREADABLE",
          `The Parquet file is damaged, or compressed in a way that is not supported: ${words(error)}.`,
        );
      });
      const lines = rows.map((row) => {
        const wkb: unknown = row[geometry.name];
        const hex = wkb instanceof Uint8Array ? Buffer.from(wkb).toString("hex") : "";
        return [hex, ...columns.map((column) => cellOf(row[column.name], column))].join(",");
      });
      await handle.write(lines.length === 0 ? "" : `${lines.join("\n")}\n`);
    }
    return {
      geometryColumn: geometry.name,
      crs: geometry.crs,
      types: new Map(
        columns.flatMap(({ name, type, raw }) =>
          raw === undefined ? [[name, type] as const] : [],
        ),
      ),
      rawColumns: new Map(
        columns.flatMap(({ name, raw }) => (raw === undefined ? [] : [[name, raw] as const])),
      ),
      featureCount: count,
      droppedDates,
    };
  } finally {
    await handle.close();
  }
}

const geoMetadata = z.looseObject({
  primary_column: z.string().optional(),
  columns: z.record(
    z.string(),
    z.looseObject({
      encoding: z.string(),
      crs: z.unknown().optional(),
      geometry_types: z.array(z.string()).optional(),
      bbox: z.array(z.number()).optional(),
      covering: z.record(z.string(), z.record(z.string(), z.array(z.string()))).optional(),
    }),
  ),
});

export interface GeometryColumn {
  readonly name: string;
  readonly crs: string | undefined;
  /** Columns that repeat the bounds of the geometries. */
  readonly coverings: ReadonlySet<string>;
  /** By side, the path of the column with that bound of each feature. */
  readonly covering: Readonly<Record<string, readonly string[]>> | undefined;
  /** As the file says: Point, MultiPolygon … */
  readonly types: readonly string[];
  readonly bounds: Bounds | undefined;
}

export function findGeometry(metadata: FileMetaData, wanted: string | undefined): GeometryColumn {
  const text = metadata.key_value_metadata?.find(({ key }) => key === "geo")?.value;
  const geo = text === undefined ? undefined : geoMetadata.safeParse(parse(text)).data;
  const marked = metadata.schema.filter(
    ({ logical_type }) => logical_type?.type === "GEOMETRY" || logical_type?.type === "GEOGRAPHY",
  );
  const name = wanted ?? geo?.primary_column ?? marked[0]?.name;
  const column = name === undefined ? undefined : geo?.columns[name];
  const element = marked.find((each) => each.name === name);
  if (name === undefined || (column === undefined && element === undefined)) {
    throw new ParquetError(
      "NO_GEOMETRY",
      `The Parquet file has no geometry column${wanted === undefined ? "" : ` "${wanted}"`}: it lacks the metadata of GeoParquet. Write it as GeoParquet, for example with GeoPandas or ogr2ogr.`,
    );
  }
  if (column !== undefined && column.encoding !== "WKB") {
    throw new ParquetError(
      "FORMAT_NOT_SUPPORTED",
      `The geometries are encoded as "${column.encoding}", and only WKB is read: write the file again with the encoding WKB.`,
    );
  }
  const coverings = Object.values(column?.covering ?? {}).flatMap((covering) =>
    Object.values(covering).map(([root]) => root ?? ""),
  );
  return {
    name,
    crs: crsOf(column, element),
    coverings: new Set(coverings),
    covering: column?.covering?.["bbox"],
    types: column?.geometry_types ?? [],
    bounds: boundsOf(column?.bbox),
  };
}

/** Of two or three dimensions; one across the antimeridian is the whole way around. */
function boundsOf(bbox: readonly number[] | undefined): Bounds | undefined {
  if (bbox?.length !== 4 && bbox?.length !== 6) return undefined;
  const [west = 0, south = 0] = bbox;
  const [east = 0, north = 0] = bbox.slice(bbox.length / 2);
  return west <= east ? [west, south, east, north] : [-180, south, 180, north];
}

/** Without a CRS it is longitude and latitude on WGS 84, as the specification says; null is unknown. */
function crsOf(
  column: { readonly crs?: unknown } | undefined,
  element: SchemaElement | undefined,
): string | undefined {
  if (column !== undefined) {
    if (column.crs === undefined) return "OGC:CRS84";
    return column.crs === null ? undefined : JSON.stringify(column.crs);
  }
  const type = element?.logical_type as { readonly crs?: string } | undefined;
  const named = /^(?:srid:)?(\d+)$/.exec(type?.crs ?? "")?.[1];
  if (named !== undefined) return `EPSG:${named}`;
  return type?.crs !== undefined && /^\w+:\w+$/.test(type.crs) ? type.crs : "OGC:CRS84";
}

/** Columns at the root; those with members become JSON. */
export function rootColumns(metadata: FileMetaData): ParquetColumn[] {
  return rootIndexes(metadata).flatMap((index) => {
    const element = metadata.schema[index];
    return element === undefined ? [] : [describeColumn(element)];
  });
}

/** The schema with decimal numbers at the root as integers. */
function markRoots(metadata: FileMetaData): SchemaElement[] {
  const roots = new Set(rootIndexes(metadata));
  return metadata.schema.map((element, index) =>
    roots.has(index) ? asIntegers(element) : element,
  );
}

function rootIndexes({ schema }: FileMetaData): number[] {
  const indexes: number[] = [];
  let index = 1;
  for (let count = schema[0]?.num_children ?? 0; count > 0; count--) {
    if (schema[index] === undefined) break;
    indexes.push(index);
    index += sizeOf(schema, index);
  }
  return indexes;
}

/** How many elements describe the column at this place: itself and its members. */
function sizeOf(elements: readonly SchemaElement[], index: number): number {
  let size = 1;
  for (let child = elements[index]?.num_children ?? 0; child > 0; child--) {
    size += sizeOf(elements, index + size);
    if (index + size > elements.length) break;
  }
  return size;
}

function quoted(text: string | undefined): string {
  return text === undefined ? "" : `"${text.replaceAll('"', '""')}"`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function words(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
