import { writeFile } from "node:fs/promises";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { destinationOf, stemOf } from "./destination.ts";
import { encode, prepare } from "./encode.ts";
import { finishCog } from "./finish-cog.ts";
import { openLocalSource } from "./open-source.ts";
import { planSource } from "./plan-source.ts";
import type { PlannedSource } from "./plan-source.ts";
import { readCrs, runGdal, temporaryFile, threadsOf } from "./run-gdal.ts";

/**
 * Handler raster_clip: cuts a raster along a box, a GeoJSON geometry or a vector file, and writes a
 * COG.
 */
export const clip = defineHandler("raster_clip", async (params, context) => {
  const { file, display } = await openLocalSource(context, params);
  const planned = await planSource(context, file, display, {});
  const { raster, plan, profile, rasterType } = planned;
  const prepared = await prepare(context, file, planned, { forOnePiece: true });
  const { boundary, boundary_crs } = params;
  const output = temporaryFile(context, "output.tif");
  const { bands, width, height } = raster;
  const common = {
    profile,
    bands,
    threads: threadsOf(context),
    size: [width, height] as const,
    progress: [5, 90] as const,
  };
  const { wkt2 } = await readCrs(context, boundary_crs);
  if (isBounds(boundary)) {
    const [west, south, east, north] = boundary;
    const window = ["-projwin", west, north, east, south].map(String);
    const translate = [...plan.translate, ...window, "-projwin_srs", wkt2];
    await encode(context, prepared, output, { ...common, plan: { ...plan, translate } });
  } else {
    const cut = await cutOut(context, prepared, planned, boundary, wkt2);
    await encode(context, cut, output, { ...common, plan: { ...plan, ...maskOf(planned) } });
  }
  const name = `${stemOf(params.blob_path)}_clipped.tif`;
  return finishCog(context, output, destinationOf(context, params, name), rasterType);
});

type Boundary = Exclude<
  Parameters<Parameters<typeof defineHandler<"raster_clip">>[1]>[0]["boundary"],
  [number, number, number, number]
>;

function isBounds(boundary: unknown): boundary is [number, number, number, number] {
  return Array.isArray(boundary);
}

/**
 * Cuts along a geometry. Pixels outside of it become empty: nodata where the raster has it, else a
 * mask.
 */
async function cutOut(
  context: HandlerContext,
  source: string,
  { raster, plan }: PlannedSource,
  boundary: Boundary,
  boundaryWkt2: string,
): Promise<string> {
  const cutline =
    typeof boundary === "string"
      ? (await openLocalSource(context, { blob_path: boundary })).file
      : await writeBoundary(context, boundary, boundaryWkt2);
  const output = temporaryFile(context, "cut.vrt");
  const needsAlpha = raster.transparency === "none" && plan.nodata === null;
  const args = ["-q", "-of", "VRT", "-overwrite", "-r", "near", "-crop_to_cutline"];
  if (plan.nodata !== null) args.push("-dstnodata", String(plan.nodata));
  if (needsAlpha) args.push("-dstalpha");
  await runGdal(context, "gdalwarp", [...args, "-cutline", cutline, source, output]).catch(
    (error: unknown) => {
      const isOutside = error instanceof Error && /cutline|does not intersect/i.test(error.message);
      if (!isOutside) throw error;
      throw new PermanentError(`The boundary does not cut the raster: ${error.message}`, {
        code: "BOUNDARY_NOT_USABLE",
        cause: error,
      });
    },
  );
  return output;
}

/** Turns the alpha band that the cut has added into the mask of the original bands. */
function maskOf({ raster, plan }: PlannedSource): { translate: readonly string[] } {
  if (raster.transparency !== "none" || plan.nodata !== null) return { translate: [] };
  const bands = [...raster.bands.keys()].flatMap((index) => ["-b", String(index + 1)]);
  return { translate: [...bands, "-mask", String(raster.bands.length + 1)] };
}

async function writeBoundary(
  context: HandlerContext,
  geometry: Exclude<Boundary, string>,
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
  await runGdal(context, "ogr2ogr", ["-q", "-f", "GPKG", "-a_srs", wkt2, placed, file]);
  return placed;
}
