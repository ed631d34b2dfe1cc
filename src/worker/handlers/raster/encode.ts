import { readFile, writeFile } from "node:fs/promises";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { pixelBytes } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { CogPlan } from "../../../core/raster/plan-cog.ts";
import { toCreationOptions } from "../../../core/raster/profile.ts";
import type { CogProfile } from "../../../core/raster/profile.ts";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import { imageVrt, threadBlocks } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { PlannedSource } from "./plan-source.ts";
import { describeGrid, runGdal, temporaryFile, threadsOf } from "./run-gdal.ts";

/**
 * Prepares the pixels of the whole output, in most cases as a virtual raster: a single file and
 * tiles are both cut from it. Encoding a single file reads all pixels twice, so its warp is written
 * to disk first (see `materialise`).
 */
export async function prepare(
  context: HandlerContext,
  source: string,
  { raster, plan }: Pick<PlannedSource, "raster" | "plan">,
  options: { readonly forOnePiece: boolean },
): Promise<string> {
  let file = source;
  if (plan.warp !== undefined) {
    const warped = await warp(context, file, plan.warp, options.forOnePiece);
    file = options.forOnePiece ? await materialise(context, warped, raster.bands) : warped;
  }
  if (plan.image !== undefined) {
    const image = temporaryFile(context, "image.vrt");
    await writeFile(image, await layImage(context, file, raster, plan));
    file = image;
  }
  return file;
}

async function warp(
  context: HandlerContext,
  source: string,
  args: readonly string[],
  forOnePiece: boolean,
): Promise<string> {
  const plain = temporaryFile(context, "plain.vrt");
  await runGdal(context, "gdalwarp", ["-q", ...args, source, plain]);
  const warped = temporaryFile(context, "warped.vrt");
  // Several tiles are made at once, each by one thread.
  const threads = forOnePiece ? threadsOf(context) : 1;
  await writeFile(warped, threadBlocks(await readFile(plain, "utf8"), threads));
  return warped;
}

async function layImage(
  context: HandlerContext,
  source: string,
  raster: InspectedRaster,
  { image, imageAlpha, warp, sourceWkt2 }: CogPlan,
): Promise<string> {
  const { width, height, crs, transform } =
    warp === undefined ? raster : await describeGrid(context, source);
  const wkt2 = crs?.wkt2 ?? sourceWkt2;
  if (transform === null || wkt2 === undefined) {
    throw new PermanentError("The raster has no place on the ground.", { code: "CRS_MISSING" });
  }
  return imageVrt({
    width,
    height,
    transform,
    wkt2,
    source,
    bands: image ?? [],
    alpha: warp === undefined ? imageAlpha : undefined,
  });
}

export interface EncodeOptions {
  readonly plan: CogPlan;
  readonly profile: CogProfile;
  /** Of the output, in pixels. */
  readonly size: readonly [number, number];
  readonly window?: RasterTile["window"];
  readonly threads: number;
  readonly progress: readonly [number, number];
  readonly bands: InspectedRaster["bands"];
  readonly env?: Readonly<Record<string, string>>;
}

/** Of the bytes of the pixels: overviews take a third more, and headers a little. */
const spaceFactor = 1.4;

export async function encode(
  context: HandlerContext,
  prepared: string,
  output: string,
  { plan, profile, size, window, threads, progress, bands, env = {} }: EncodeOptions,
): Promise<void> {
  await ensureSpace(context.workDir, pixelBytes(bands) * size[0] * size[1] * spaceFactor);
  const cut = window === undefined ? [] : ["-srcwin", ...window.map(String)];
  const options = toCreationOptions(profile, { threads, size, addAlpha: plan.addAlpha });
  const args = ["-of", "COG", ...cut, ...plan.translate, ...options, prepared, output];
  await runGdal(context, "gdal_translate", args, { progress, env });
}

/** The size of the output in pixels: that of the source, or of its warp. */
export async function sizeOf(
  context: HandlerContext,
  prepared: string,
  raster: InspectedRaster,
  plan: CogPlan,
): Promise<readonly [number, number]> {
  const { width, height } =
    plan.warp === undefined ? raster : await describeGrid(context, prepared);
  return [width, height];
}

/**
 * Writes a virtual warp to a GeoTIFF. Encoding a COG reads everything twice, for the overviews and
 * for the pixels; a virtual warp that does not fit into GDAL's cache would be computed twice, which
 * almost doubled the time of an ingest.
 *
 * The file is cut from the same virtual raster as tiles are, not warped anew: GDAL's approximate
 * transformation is exact only within a block, and other blocks would give other pixels.
 */
async function materialise(
  context: HandlerContext,
  warped: string,
  bands: InspectedRaster["bands"],
): Promise<string> {
  const { width, height } = await describeGrid(context, warped);
  // One byte more for the mask that the warp may have added.
  await ensureSpace(context.workDir, (pixelBytes(bands) + 1) * width * height);
  const materialised = temporaryFile(context, "materialised.tif");
  const layout = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "BIGTIFF=IF_SAFER"];
  const options = layout.flatMap((option) => ["-co", option]);
  await runGdal(context, "gdal_translate", [
    "-q",
    "-of",
    "GTiff",
    ...options,
    warped,
    materialised,
  ]);
  return materialised;
}
