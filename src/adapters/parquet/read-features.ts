/**
 * Reads the features of a GeoParquet file that meet a box. Row groups whose bounds do not meet it, as the
 * statistics of the covering column say, are not read. A file from outside is read by this in a process
 * of its own: see confined-features.ts.
 */
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import type { Bounds } from "../../core/vector/parts.ts";
import { boundedCompressors, checkFooter } from "./check-footer.ts";
import { ParquetError } from "./parquet-error.ts";
import type { GeometryColumn } from "./read-parquet.ts";
import { findGeometry, rootColumns } from "./read-parquet.ts";

export interface FeatureFile {
  readonly geometry: GeometryColumn;
  readonly columns: readonly string[];
}

/** A row: its geometry as WKB, and the columns that were asked for. */
export interface ParquetFeature {
  readonly wkb: Uint8Array;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface WantedFeatures {
  readonly boxes: readonly Bounds[];
  readonly columns: readonly string[];
}

/** The rows of a group are objects in memory, all at once. */
const mostRows = 4_000_000;

export async function openParquetFeatures(file: AsyncBuffer) {
  const metadata = await parquetMetadataAsync(file).catch(() => {
    throw new ParquetError("FILE_UNREADABLE", "It is no Parquet file that can be read.");
  });
  checkFooter(metadata, file.byteLength, mostRows);
  const geometry = findGeometry(metadata, undefined);
  const raw = (value: Uint8Array) => value;
  const about: FeatureFile = { geometry, columns: rootColumns(metadata).map(({ name }) => name) };
  return {
    about,
    async *features({ boxes, columns }: WantedFeatures): AsyncGenerator<ParquetFeature> {
      let rowStart = 0;
      for (const group of metadata.row_groups) {
        const rowEnd = rowStart + Number(group.num_rows);
        const range = { rowStart, rowEnd };
        rowStart = rowEnd;
        const bounds = boundsOfGroup(group, geometry);
        if (bounds !== undefined && !boxes.some((box) => meets(box, bounds))) continue;
        const rows = await parquetReadObjects({
          file,
          metadata,
          compressors: boundedCompressors,
          ...range,
          columns: [...new Set([geometry.name, ...columns])],
          parsers: { geometryFromBytes: raw, geographyFromBytes: raw },
        }).catch((error: unknown) => {
          if (error instanceof ParquetError) throw error;
          throw new ParquetError("FILE_UNREADABLE", "The Parquet file is damaged.");
        });
        for (const row of rows) {
          const wkb: unknown = row[geometry.name];
          if (!(wkb instanceof Uint8Array)) continue;
          yield { wkb, properties: Object.fromEntries(columns.map((name) => [name, row[name]])) };
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
