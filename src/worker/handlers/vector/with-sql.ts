/**
 * Runs SQL over a layer. GDAL offers SQL for every format with SQLite's virtual tables, which fail
 * where two columns have one name: since 3.8 GeoJSON calls the feature number `id`, and so do many
 * files call a property. Then the layer is copied into a GeoPackage, where the feature number has
 * another name, and the query runs again.
 */
import path from "node:path";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runOptions } from "./gdal-options.ts";
import { dumpNames } from "./open-dump.ts";

export interface OpenedLayer {
  readonly file: string;
  /** The only driver that may open it. */
  readonly drivers: readonly [string];
  readonly openArgs: readonly string[];
  readonly layer: LayerFacts;
  /** Reads the layer, where its plain rows would lose values. */
  readonly query?: string | undefined;
}

/** The name of the geometry column in SQL, and the dialect of the query. */
export function sqlOf({ file, layer }: Pick<OpenedLayer, "file" | "layer">) {
  const { geometryColumn: column } = layer;
  return {
    geometry: column === undefined || column === "" ? "GEOMETRY" : column,
    // A GeoPackage would run SQLite's dialect by itself, without GDAL's geometry functions.
    dialect: file.endsWith(".gpkg") ? "INDIRECT_SQLITE" : "SQLITE",
  };
}

/** Runs a query; answers its result, and the layer that it ran on: the given one or its copy. */
export async function withSql<Answer>(
  opened: OpenedLayer,
  context: HandlerContext,
  query: (opened: OpenedLayer) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly opened: OpenedLayer }> {
  try {
    return { answer: await query(opened), opened };
  } catch (error) {
    const hasDuplicateColumn =
      error instanceof GdalError && /cannot create virtual table/i.test(error.lines.join("\n"));
    if (!hasDuplicateColumn) throw error;
  }
  const copy = await copyLayer(opened, context);
  return { answer: await query(copy), opened: copy };
}

async function copyLayer(opened: OpenedLayer, context: HandlerContext): Promise<OpenedLayer> {
  const file = path.join(context.workDir, "copy.gpkg");
  const names = ["-lco", `FID=${dumpNames.fid}`, "-lco", `GEOMETRY_NAME=${dumpNames.geometry}`];
  const args = ["-f", "GPKG", ...names, "-preserve_fid", "-nln", "layer", "-nlt", "GEOMETRY"];
  const source = [...opened.openArgs, file, opened.file, opened.layer.name];
  const drivers = [...opened.drivers, "GPKG"];
  await context.gdal.run("ogr2ogr", [...args, ...source], runOptions(context, drivers));
  const layer = { ...opened.layer, name: "layer", geometryColumn: dumpNames.geometry };
  return { file, drivers: ["GPKG"], openArgs: [], layer };
}
