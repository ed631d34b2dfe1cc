/** Areas that cut a raster, as files of the task that GDAL reads as cutlines. */
import { writeFile } from "node:fs/promises";
import type { HandlerContext } from "../../define-handler.ts";
import { fetchSource } from "../vector/fetch-source.ts";
import { openOptions } from "../vector/gdal-options.ts";
import { inspectLayer } from "../vector/inspect-source.ts";
import { runGdal, temporaryFile } from "./run-gdal.ts";

/** Copies the boundaries of a submitted vector file into a file of the task. */
export async function copyBoundary(context: HandlerContext, blob_path: string): Promise<string> {
  const source = await fetchSource({ blob_path }, context);
  const options = await openOptions(source, {});
  const layer = await inspectLayer(source, options, undefined, context);
  const file = temporaryFile(context, "boundary.gpkg");
  const args = ["-q", "-f", "GPKG", "-nln", "boundary", ...options.args, file, source.file];
  const drivers = [...source.drivers, "GPKG"];
  await runGdal(context, "ogr2ogr", [...args, layer.name], { drivers });
  return file;
}

/** Writes one GeoJSON geometry, in the coordinate reference system that the caller names. */
export async function writeBoundary(
  context: HandlerContext,
  geometry: object,
  wkt2: string,
): Promise<string> {
  const file = temporaryFile(context, "boundary.geojson");
  const collection = {
    type: "FeatureCollection",
    features: [{ type: "Feature", properties: {}, geometry }],
  };
  await writeFile(file, JSON.stringify(collection));
  const placed = temporaryFile(context, "boundary.gpkg");
  // GDAL assumes that GeoJSON is in longitude and latitude; the copy states the real CRS.
  const args = ["-q", "-f", "GPKG", "-a_srs", wkt2, placed, file];
  await runGdal(context, "ogr2ogr", args, { drivers: ["GeoJSON", "GPKG"] });
  return placed;
}
