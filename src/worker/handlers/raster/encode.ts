import { readFile, writeFile } from "node:fs/promises";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { pixelBytes } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { CogPlan } from "../../../core/raster/plan-cog.ts";
import { toCreationOptions } from "../../../core/raster/profile.ts";
import type { CogProfile } from "../../../core/raster/profile.ts";
import type { PixelWindow } from "../../../core/raster/source-window.ts";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import { imageVrt, threadBlocks } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { PlannedSource } from "./plan-source.ts";
import {
  findSourceWindow,
  frameSource,
  plainBytes,
  plainOptions,
  rewriteSource,
} from "./rewrite-source.ts";
import { describeGrid, reading, runGdal, temporaryFile, threadsOf } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";
import { blankStatistics } from "./strip-statistics.ts";

export interface PrepareOptions {
  /** The output is one file; otherwise it is cut into tiles. */
  readonly forOnePiece: boolean;
  /** The pixels of the output that are needed; all of them where it is left out. */
  readonly window?: PixelWindow;
}

/**
 * Prepares the pixels of the whole output: the source itself, or a virtual raster over a copy of it,
 * from which a single file and tiles are both cut. Encoding a single file reads all pixels twice, so
 * its warp is written to disk first (see `materialise`).
 */
export async function prepare(
  context: HandlerContext,
  source: RasterInput,
  { raster, plan }: Pick<PlannedSource, "raster" | "plan">,
  options: PrepareOptions,
): Promise<RasterInput> {
  if (plan.warp === undefined && plan.image === undefined) return source;
  let input = source;
  if (plan.warp === undefined) {
    if (source.driver !== "VRT") input = await rewriteFor(context, source, raster, options.window);
  } else {
    input = await warpSource(context, source, { raster, plan, warp: plan.warp }, options);
    if (options.forOnePiece) input = await materialise(context, input, raster.bands);
  }
  if (plan.image !== undefined) {
    const image = temporaryFile(context, "image.vrt");
    await writeFile(image, await layImage(context, input, raster, plan));
    input = { file: image, driver: "VRT" };
  }
  return input;
}

async function rewriteFor(
  context: HandlerContext,
  source: RasterInput,
  raster: InspectedRaster,
  window: PixelWindow | undefined,
): Promise<RasterInput> {
  return window === undefined
    ? rewriteSource(context, source, raster)
    : frameSource(context, source, raster, window);
}

const onePixel: PixelWindow = [0, 0, 1, 1];

/**
 * Warps a copy of the source, as a virtual raster. The grid of the warp follows from that of the
 * source without its pixels, and the grid tells which pixels of the source a window needs.
 */
async function warpSource(
  context: HandlerContext,
  source: RasterInput,
  { raster, plan, warp: args }: Pick<PlannedSource, "raster" | "plan"> & WarpArguments,
  { forOnePiece, window }: PrepareOptions,
): Promise<RasterInput> {
  // Several tiles are made at once, each by one thread.
  const threads = forOnePiece ? threadsOf(context) : 1;
  const warpIt = (input: RasterInput) => warp(context, input, args, threads);
  if (source.driver === "VRT") return warpIt(source);
  if (window === undefined) return warpIt(await rewriteSource(context, source, raster));
  const empty = await warpIt(await frameSource(context, source, raster, onePixel));
  if (window === onePixel) return empty;
  const needed = await findSourceWindow(context, raster, plan.sourceWkt2, empty, window);
  return warpIt(await rewriteFor(context, source, raster, needed));
}

interface WarpArguments {
  readonly warp: readonly string[];
}

/** The output's grid without its pixels, for a caller that only asks for its size and place. */
export function prepareGrid(
  context: HandlerContext,
  source: RasterInput,
  planned: Pick<PlannedSource, "raster" | "plan">,
): Promise<RasterInput> {
  return prepare(context, source, planned, { forOnePiece: false, window: onePixel });
}

async function warp(
  context: HandlerContext,
  source: RasterInput,
  args: readonly string[],
  threads: number,
): Promise<RasterInput> {
  const plain = temporaryFile(context, "plain.vrt");
  const options = reading(context, source, "VRT");
  await runGdal(context, "gdalwarp", ["-q", ...args, source.file, plain], options);
  const warped = temporaryFile(context, "warped.vrt");
  await writeFile(warped, threadBlocks(await readFile(plain, "utf8"), threads));
  return { file: warped, driver: "VRT" };
}

async function layImage(
  context: HandlerContext,
  source: RasterInput,
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
    source: source.file,
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
}

/** Of the bytes of the pixels: overviews take a third more, twice while they are made, headers a little. */
const spaceFactor = 1.75;

export async function encode(
  context: HandlerContext,
  prepared: RasterInput,
  output: string,
  { plan, profile, size, window, threads, progress, bands }: EncodeOptions,
): Promise<void> {
  await ensureSpace(context.workDir, pixelBytes(bands) * size[0] * size[1] * spaceFactor);
  const cut = window === undefined ? [] : ["-srcwin", ...window.map(String)];
  const options = toCreationOptions(profile, { threads, size, addAlpha: plan.addAlpha });
  const args = ["-of", "COG", ...cut, ...plan.translate, ...options, prepared.file, output];
  const drivers = reading(context, prepared, "COG", "GTiff");
  // GDAL makes overviews in a file of its own: to compress that of one band takes a quarter of the time,
  // while eight bands take twice as long without compression. A file that is cut along tiles is also
  // warped into such a file, which would take too much of the disk.
  const isPlain = !profile.isWebAligned && bands.length === 1;
  const env = {
    ...(isPlain ? { COG_TMP_COMPRESSION: "NONE" } : {}),
    // For reading the source too, where NUM_THREADS counts for the output alone.
    ...(threads > 1 ? { GDAL_NUM_THREADS: String(threads) } : {}),
  };
  await runGdal(context, "gdal_translate", args, { ...drivers, env, progress });
  await blankStatistics(output);
}

/** The size of the output in pixels: that of the source, or of its warp. */
export async function sizeOf(
  context: HandlerContext,
  prepared: RasterInput,
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
  warped: RasterInput,
  bands: InspectedRaster["bands"],
): Promise<RasterInput> {
  const { width, height } = await describeGrid(context, warped);
  await ensureSpace(context.workDir, plainBytes(bands) * width * height);
  const file = temporaryFile(context, "materialised.tif");
  const args = ["-q", "-of", "GTiff", ...plainOptions, warped.file, file];
  await runGdal(context, "gdal_translate", args, reading(context, warped, "GTiff"));
  return { file, driver: "GTiff" };
}
