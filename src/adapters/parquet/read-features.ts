/**
 * Reads the features of a GeoParquet file in storage that meet a box. Row groups whose bounds do not meet
 * it, as the statistics of the covering column say, are not read.
 */
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { FileMetaData } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { ByteStore } from "../tiles/byte-source.ts";
import type { Bounds } from "../../core/vector/parts.ts";
import type { GeometryColumn } from "./read-parquet.ts";
import { ParquetError, findGeometry, refuseLargeGroups, rootColumns } from "./read-parquet.ts";
import { storedFile } from "./read-table.ts";

export interface ParquetFeatures {
  readonly geometry: GeometryColumn;
  readonly columns: readonly string[];
  /** One feature a row: its geometry as WKB, and the columns that were asked for. */
  features(
    boxes: readonly Bounds[],
    columns: readonly string[],
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly wkb: Uint8Array; readonly properties: Record<string, unknown> }>;
}

/** The rows of a group are objects in memory, all at once. */
const mostRows = 4_000_000;

export async function openParquetFeatures(
  storage: ByteStore,
  path: string,
  bytes: number,
): Promise<ParquetFeatures> {
  const file = storedFile(storage, path, bytes);
  const metadata = await parquetMetadataAsync(file).catch(() => {
    throw new ParquetError("FILE_UNREADABLE", `"${path}" is no Parquet file that can be read.`);
  });
  refuseLargeGroups(metadata, mostRows);
  const geometry = findGeometry(metadata, undefined);
  const raw = (value: Uint8Array) => value;
  return {
    geometry,
    columns: rootColumns(metadata).map(({ name }) => name),
    async *features(boxes, columns, signal) {
      let rowStart = 0;
      for (const group of metadata.row_groups) {
        signal.throwIfAborted();
        const rowEnd = rowStart + Number(group.num_rows);
        const range = { rowStart, rowEnd };
        rowStart = rowEnd;
        const bounds = boundsOfGroup(group, geometry);
        if (bounds !== undefined && !boxes.some((box) => meets(box, bounds))) continue;
        const rows = await parquetReadObjects({
          file,
          metadata,
          compressors,
          ...range,
          columns: [...new Set([geometry.name, ...columns])],
          parsers: { geometryFromBytes: raw, geographyFromBytes: raw },
        }).catch(() => {
          throw new ParquetError("FILE_UNREADABLE", `"${path}" is damaged.`);
        });
        for (const properties of rows) {
          const wkb: unknown = properties[geometry.name];
          if (wkb instanceof Uint8Array) yield { wkb, properties };
        }
      }
    },
  };
}

/** Undefined: the file does not say. */
function boundsOfGroup(
  group: FileMetaData["row_groups"][number],
  { covering }: GeometryColumn,
): Bounds | undefined {
  if (covering === undefined) return undefined;
  const statisticOf = (path: readonly string[] | undefined, end: "min_value" | "max_value") => {
    const column = group.columns.find(
      ({ meta_data }) => meta_data?.path_in_schema.join("/") === path?.join("/"),
    );
    const value = column?.meta_data?.statistics?.[end];
    return typeof value === "number" ? value : Number.NaN;
  };
  const bounds: Bounds = [
    statisticOf(covering["xmin"], "min_value"),
    statisticOf(covering["ymin"], "min_value"),
    statisticOf(covering["xmax"], "max_value"),
    statisticOf(covering["ymax"], "max_value"),
  ];
  return bounds.some((value) => Number.isNaN(value)) ? undefined : bounds;
}

function meets(a: Bounds, b: Bounds): boolean {
  return a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];
}
