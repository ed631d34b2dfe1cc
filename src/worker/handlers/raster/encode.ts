import { readFile, writeFile } from "node:fs/promises";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { pixelBytes } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { CogPlan } from "../../../core/raster/plan-cog.ts";
import { toCreationOptions } from "../../../core/raster/profile.ts";
import type { CogProfile } from "../../../core/raster/profile.ts";
import { imageVrt, threadBlocks } from "../../../core/raster/vrt.ts";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { describeGrid } from "./describe-grid.ts";
import type { PlannedSource } from "./plan-source.ts";
import { runGdal } from "./run-gdal.ts";
import { settle } from "./settle.ts";
import { temporaryFile } from "./temporary.ts";
import { threadsOf } from "./threads.ts";

/**
 * The whole output before it is encoded, mostly as a virtual raster: tiles and the single piece are
 * both cut from it. A single piece reads all of it twice, so a warp for one is settled first.
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
    file = options.forOnePiece ? await settle(context, warped, raster.bands) : warped;
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
  // Of tiles several are made at once, each by one thread.
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
    ...{ width, height, transform, wkt2, source },
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

/** Overviews need a third more, and a little for what surrounds them. */
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

/** What will be written of a source, or of the warp of it. */
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
