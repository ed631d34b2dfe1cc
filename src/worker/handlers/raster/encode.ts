import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { bytesOf } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import type { CogPlan } from "../../../core/raster/plan-cog.ts";
import { toCreationOptions } from "../../../core/raster/profile.ts";
import type { CogProfile } from "../../../core/raster/profile.ts";
import { imageVrt } from "../../../core/raster/vrt.ts";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { runGdal } from "./run-gdal.ts";
import { temporaryFile } from "./temporary.ts";

/** The whole output as a virtual raster: tiles and the single piece are both cut from it. */
export async function prepare(
  context: HandlerContext,
  source: string,
  raster: InspectedRaster,
  plan: CogPlan,
): Promise<string> {
  let file = source;
  if (plan.warp !== undefined) {
    const warped = temporaryFile(context, "warped.vrt");
    await runGdal(context, "gdalwarp", ["-q", ...plan.warp, file, warped]);
    file = warped;
  }
  if (plan.image !== undefined) {
    const image = temporaryFile(context, "image.vrt");
    await writeFile(image, await layImage(context, file, raster, plan));
    file = image;
  }
  return file;
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

/** Size and place of a virtual raster. */
export async function describeGrid(context: HandlerContext, file: string) {
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", file]);
  const info = parseGdalInfo(stdout);
  if (info === undefined) throw new Error("GDAL does not say what it has made.");
  return info;
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

/** Compiled to WebAssembly, GDAL has no threads, and waits for ever for those that it is told to use. */
export function threadsOf({ gdal }: HandlerContext): number {
  return gdal.engine === "wasm" ? 1 : availableParallelism();
}

/** Overviews need a third more, and a little for what surrounds them. */
const spaceFactor = 1.4;

export async function encode(
  context: HandlerContext,
  prepared: string,
  output: string,
  { plan, profile, size, window, threads, progress, bands, env = {} }: EncodeOptions,
): Promise<void> {
  await ensureSpace(context.workDir, rawBytesOf(bands, size) * spaceFactor);
  const cut = window === undefined ? [] : ["-srcwin", ...window.map(String)];
  const options = toCreationOptions(profile, { threads, size, addAlpha: plan.addAlpha });
  const args = ["-of", "COG", ...cut, ...plan.translate, ...options, prepared, output];
  await runGdal(context, "gdal_translate", args, { progress, env });
}

function rawBytesOf(
  bands: InspectedRaster["bands"],
  [width, height]: readonly [number, number],
): number {
  return width * height * bands.reduce((sum, { data_type }) => sum + bytesOf(data_type), 0);
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
