/**
 * Rewrites the pixels of a submitted raster as a GeoTIFF of the task. Virtual rasters are made over
 * such files only: while GDAL opens a submitted file its VRT driver is off, because a file can carry
 * a virtual raster that reads any other file.
 */
import { readFile, writeFile } from "node:fs/promises";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { isGeographic } from "../../../core/raster/crs.ts";
import { pixelBytes } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { spreadPoints, windowAround } from "../../../core/raster/source-window.ts";
import type { PixelWindow } from "../../../core/raster/source-window.ts";
import { placeInFrame } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { describeGrid, reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";

const layout = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "BIGTIFF=IF_SAFER"];
export const plainOptions: readonly string[] = layout.flatMap((option) => ["-co", option]);
/** One byte more a pixel than the bands need, for a mask. */
export const plainBytes = (bands: InspectedRaster["bands"]): number => pixelBytes(bands) + 1;

interface RewriteOptions {
  /** The pixels to write; all of them where it is left out. */
  readonly window?: PixelWindow | undefined;
  /** Leaves out the nodata value that the file declares. */
  readonly nodata?: "none";
}

export async function rewriteSource(
  context: HandlerContext,
  source: RasterInput,
  { bands, width, height }: Pick<InspectedRaster, "bands" | "width" | "height">,
  { window, nodata }: RewriteOptions = {},
): Promise<RasterInput> {
  const [, , columns, rows] = window ?? [0, 0, width, height];
  await ensureSpace(context.workDir, plainBytes(bands) * columns * rows);
  const file = temporaryFile(context, "rewritten.tif");
  const cut = window === undefined ? [] : ["-srcwin", ...window.map(String)];
  const declared = nodata === undefined ? [] : ["-a_nodata", nodata];
  const args = ["-q", "-of", "GTiff", ...cut, ...declared, ...plainOptions, source.file, file];
  await runGdal(context, "gdal_translate", args, {
    ...reading(context, source, "GTiff"),
    // A mask in a file of its own would not follow the copy.
    env: { GDAL_TIFF_INTERNAL_MASK: "YES" },
  });
  return { file, driver: "GTiff" };
}

/**
 * A virtual raster on the grid of the whole source that has the pixels of a window only. A warp of
 * it has the same grid and the same pixels as a warp of the source, as far as the window reaches.
 */
export async function frameSource(
  context: HandlerContext,
  source: RasterInput,
  raster: InspectedRaster,
  window: PixelWindow,
): Promise<RasterInput> {
  const { transform, width, height } = raster;
  if (transform === null) return rewriteSource(context, source, raster);
  const part = await rewriteSource(context, source, raster, { window });
  const cut = temporaryFile(context, "cut.vrt");
  const args = ["-q", "-of", "VRT", part.file, cut];
  await runGdal(context, "gdal_translate", args, reading(context, part, "VRT"));
  const file = temporaryFile(context, "frame.vrt");
  const [left, top] = window;
  const frame = { width, height, transform, left, top };
  await writeFile(file, placeInFrame(await readFile(cut, "utf8"), frame));
  return { file, driver: "VRT" };
}

/** The window of the source that a window of its warp needs; undefined: all of it. */
export async function findSourceWindow(
  context: HandlerContext,
  raster: InspectedRaster,
  sourceWkt2: string | undefined,
  warped: RasterInput,
  target: PixelWindow,
): Promise<PixelWindow | undefined> {
  const { transform, width, height } = raster;
  const grid = await describeGrid(context, warped);
  if (transform === null || grid.transform === null) return undefined;
  if (sourceWkt2 === undefined || grid.crs === null) return undefined;
  const points = spreadPoints(grid.transform, target);
  const stdin = points.map(([x, y]) => `${x} ${y}\n`).join("");
  const args = ["-s_srs", grid.crs.wkt2, "-t_srs", sourceWkt2, "-output_xy"];
  const { stdout } = await runGdal(context, "gdaltransform", args, { drivers: [], stdin });
  const moved = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([x = Number.NaN, y = Number.NaN]) => [x, y] as const);
  if (moved.length !== points.length) return undefined;
  const source = { width, height, transform, isGeographic: isGeographic(sourceWkt2) };
  return windowAround(moved, source, target);
}
