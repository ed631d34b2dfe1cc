/** Handler vector_export: writes a layer as a file for others, in the formats of `exportFormats`. */
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { writeGeoParquet } from "../../../adapters/parquet/write-geoparquet.ts";
import { allFeatures, featuresInSpace } from "../../../adapters/postgres/queries/all-features.ts";
import { findGeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import type { GeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import { createVectorTiles } from "../../../adapters/tiles/vector-tiles.ts";
import { writePmtiles } from "../../../adapters/tiles/write-pmtiles.ts";
import type { Database } from "../../../adapters/postgres/database.ts";
import { layerName } from "../../../core/serving/vector-documents.ts";
import { countAt, lastZoom, tileNumber, tilesOf } from "../../../core/serving/tile-number.ts";
import type { ExportFormat } from "../../../core/vector/export-formats.ts";
import { exportFormats } from "../../../core/vector/export-formats.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { Bounds } from "../../../core/vector/parts.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { runOptions } from "./gdal-options.ts";

export const exportVector = defineHandler("vector_export", async (params, context) => {
  const database = requireDatabase(context);
  const table = await requireTable(database, params.table_name);
  const { ending } = exportFormats[params.format];
  const file = path.join(context.workDir, `export${ending}`);
  await exportLayer(database, table, params.format, file, context, params.max_zoom);
  const blob_path = params.output_path ?? `vector/${context.job_id}/${table.table_name}${ending}`;
  const container = params.output_container ?? "silver";
  await context.storage.putFile(`${container}/${blob_path}`, file, { signal: context.signal });
  const { size } = await stat(file);
  return {
    blob_path,
    container,
    file_size_mb: Math.round((size / 1024 / 1024) * 1e6) / 1e6,
    feature_count: table.feature_count,
    media_type: exportFormats[params.format].mediaType,
  };
});

export async function requireTable(database: Database, name: string): Promise<GeoTable> {
  const table = await findGeoTable(database, name);
  if (table !== undefined) return table;
  throw new PermanentError(`There is no layer "${name}".`, { code: "LAYER_NOT_FOUND" });
}

/** Writes all features of a layer to a file of the task. */
export async function exportLayer(
  database: Database,
  table: GeoTable,
  format: ExportFormat,
  file: string,
  context: HandlerContext,
  maxZoom?: number | null,
): Promise<void> {
  if (format === "geoparquet") {
    await writeGeoParquet(file, table, featuresInSpace(database, table, context.signal));
    return;
  }
  if (format === "pmtiles") {
    await exportTiles(database, table, file, context, maxZoom);
    return;
  }
  const csv = path.join(context.workDir, "export.csv");
  await writeCsv(csv, table, allFeatures(database, table, context.signal, true));
  const driver = format === "flatgeobuf" ? "FlatGeobuf" : "GPKG";
  const args = ["-f", driver, "-a_srs", "EPSG:4326", "-nln", table.table_name];
  const type = [
    "-nlt",
    table.geometry_type,
    "-select",
    table.columns.map(({ name }) => name).join(","),
  ];
  const source = ["-oo", "GEOM_POSSIBLE_NAMES=geom", "-oo", "KEEP_GEOM_COLUMNS=NO"];
  const empty = ["-oo", "EMPTY_STRING_AS_NULL=YES"];
  const options = runOptions(context, ["CSV", driver]);
  await context.gdal.run("ogr2ogr", [...args, ...type, ...source, ...empty, file, csv], options);
}

/** Geometries in hexadecimal, values as text, and the types in a file beside it that GDAL reads. */
async function writeCsv(
  file: string,
  table: GeoTable,
  pages: ReturnType<typeof allFeatures>,
): Promise<void> {
  const types = await open(`${file}t`, "w");
  await types.write(
    ["WKT", ...table.columns.map(({ type }) => csvTypes[type] ?? "String")].join(","),
  );
  await types.close();
  const handle = await open(file, "w");
  try {
    await handle.write(`geom,${table.columns.map(({ name }) => name).join(",")}\n`);
    for await (const rows of pages) {
      const lines = rows.map(({ wkb, properties }) => {
        const values = table.columns.map(({ name }) => textOf(properties[name]));
        return [Buffer.from(wkb).toString("hex"), ...values].join(",");
      });
      await handle.write(`${lines.join("\n")}\n`);
    }
  } finally {
    await handle.close();
  }
}

const csvTypes: Readonly<Partial<Record<GeoColumn["type"], string>>> = {
  boolean: "Integer(Boolean)",
  integer: "Integer",
  bigint: "Integer64",
  "double precision": "Real",
  date: "Date",
  time: "Time",
  timestamptz: "DateTime",
};

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  // GDAL reads NaN as nothing, and a number that no double holds as infinite.
  if (typeof value === "number") return String(value).replace("Infinity", "1e999");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `"${text.replaceAll('"', '""')}"`;
}

const world: Bounds = [-180, -85, 180, 85];

async function exportTiles(
  database: Database,
  table: GeoTable,
  file: string,
  context: HandlerContext,
  wanted: number | null | undefined,
): Promise<void> {
  const maker = createVectorTiles(database);
  const bounds = table.bounds ?? world;
  const maxZoom = wanted == null ? lastZoom(bounds) : checkZoom(bounds, wanted);
  const fields = Object.fromEntries(table.columns.map(({ name, type }) => [name, fieldType(type)]));
  const layers = [{ id: layerName, fields, minzoom: 0, maxzoom: maxZoom }];
  const metadata = { name: table.table_name, vector_layers: layers };
  async function* tiles() {
    for (let z = 0; z <= maxZoom; z++) {
      const places = tilesOf(bounds, z)
        .map((tile) => ({ tile, number: tileNumber(tile) }))
        .sort((a, b) => a.number - b.number);
      for (const { tile } of places) {
        context.signal.throwIfAborted();
        yield { tile, bytes: await maker.make(table, tile, context.signal) };
      }
      context.progress((100 * (z + 1)) / (maxZoom + 1));
    }
  }
  await writePmtiles(file, { bounds, minZoom: 0, maxZoom, metadata }, tiles());
}

/** The tiles of the last zoom that a task makes within its time. */
const mostAskedTiles = 200_000;

function checkZoom(bounds: Bounds, wanted: number): number {
  const possible = lastZoom(bounds, wanted, mostAskedTiles);
  if (possible === wanted) return wanted;
  const count = countAt(bounds, wanted).toLocaleString("en");
  throw new PermanentError(
    `max_zoom ${wanted} has ${count} tiles here, and at most ${mostAskedTiles.toLocaleString("en")} are written; the highest zoom possible is ${possible}.`,
    { code: "TOO_MANY_TILES" },
  );
}

/** The types that TileJSON names. */
function fieldType(type: GeoColumn["type"]): "Number" | "Boolean" | "String" {
  if (["integer", "bigint", "double precision"].includes(type)) return "Number";
  return type === "boolean" ? "Boolean" : "String";
}
