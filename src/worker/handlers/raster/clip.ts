import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import type { DataType } from "../../../core/raster/facts.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { losesEmptiness } from "../../../core/raster/plan-cog.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { copyBoundary, writeBoundary } from "./boundary.ts";
import { destinationOf, stemOf } from "./destination.ts";
import { encode, prepare } from "./encode.ts";
import { finishCog } from "./finish-cog.ts";
import { openSource } from "./open-source.ts";
import { planSource } from "./plan-source.ts";
import type { PlannedSource } from "./plan-source.ts";
import { plainBytes, plainOptions, rewriteSource } from "./rewrite-source.ts";
import { readCrs, reading, runGdal, temporaryFile, threadsOf } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";

/**
 * Handler raster_clip: cuts a raster along a box, a GeoJSON geometry or a vector file, and writes a
 * COG.
 */
export const clip = defineHandler("raster_clip", async (params, context) => {
  const { file, display } = await openSource(context, params);
  const planned = await planSource(context, file, display, {});
  const { raster, plan, profile, rasterType } = planned;
  const source = { file, driver: raster.driver };
  const prepared = await prepare(context, source, planned, { forOnePiece: true });
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
    const isMasked = raster.transparency === "mask" && plan.nodata === null;
    const rewrite = isMasked ? rewriteWithAlpha : rewriteSource;
    const ours = prepared === source ? await rewrite(context, source, raster) : prepared;
    const cut = await cutOut(context, ours, planned, boundary, wkt2);
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
  source: RasterInput,
  { raster, plan }: PlannedSource,
  boundary: Boundary,
  boundaryWkt2: string,
): Promise<RasterInput> {
  const cutline =
    typeof boundary === "string"
      ? await copyBoundary(context, boundary)
      : await writeBoundary(context, boundary, boundaryWkt2);
  const output = temporaryFile(context, "cut.vrt");
  const needsAlpha = losesEmptiness(raster) && plan.nodata === null;
  const args = ["-q", "-of", "VRT", "-overwrite", "-r", "near", "-crop_to_cutline"];
  if (plan.nodata !== null) args.push("-dstnodata", String(plan.nodata));
  if (needsAlpha) args.push("-dstalpha");
  const whole = [...args, "-cutline", cutline, source.file, output];
  const options = reading(context, source, "VRT", "GPKG");
  await runGdal(context, "gdalwarp", whole, options).catch((error: unknown) => {
    const isOutside = error instanceof Error && /cutline|does not intersect/i.test(error.message);
    if (!isOutside) throw error;
    throw new PermanentError(`The boundary does not cut the raster: ${error.message}`, {
      code: "BOUNDARY_NOT_USABLE",
      cause: error,
    });
  });
  return { file: output, driver: "VRT" };
}

/** Fully present, in an alpha band of the type; 255 in the other types. */
const opaque: Partial<Readonly<Record<DataType, number>>> = { uint16: 65_535, int16: 32_767 };

/** Writes the mask as an alpha band after the others: GDAL ignores a mask where it cuts along a geometry. */
async function rewriteWithAlpha(
  context: HandlerContext,
  source: RasterInput,
  { bands, width, height }: InspectedRaster,
): Promise<RasterInput> {
  await ensureSpace(context.workDir, 2 * plainBytes(bands) * width * height);
  const file = temporaryFile(context, "alpha.tif");
  const number = bands.length + 1;
  const full = opaque[bands[0]?.data_type ?? "uint8"] ?? 255;
  const chosen = bands.flatMap((_, index) => ["-b", String(index + 1)]);
  const alpha = ["-b", "mask", `-scale_${number}`, "0", "255", "0", String(full)];
  const marked = ["-mask", "none", `-colorinterp_${number}`, "alpha"];
  const args = ["-q", "-of", "GTiff", ...chosen, ...alpha, ...marked, ...plainOptions];
  const options = reading(context, source, "GTiff");
  await runGdal(context, "gdal_translate", [...args, source.file, file], options);
  return { file, driver: "GTiff" };
}

/** Turns the alpha band that the cut has added into the mask of the original bands. */
function maskOf({ raster, plan }: PlannedSource): { translate: readonly string[] } {
  if (!losesEmptiness(raster) || plan.nodata !== null) return { translate: [] };
  const bands = [...raster.bands.keys()].flatMap((index) => ["-b", String(index + 1)]);
  return { translate: [...bands, "-mask", String(raster.bands.length + 1)] };
}
