/**
 * Writes a TIFF that has a mask beside a nodata value without that value. GDAL's readers believe the mask
 * alone, while its statistics and warps believe the nodata value alone, and would show masked pixels.
 */
import { TiffError, withFile } from "../../../adapters/cog/byte-source.ts";
import { readTiffStructure } from "../../../adapters/cog/read-tiff-structure.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import { hasMaskOfAllBands } from "../../../core/raster/fold-masks.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { unlessUnreadable } from "./fold-masks.ts";
import { rewriteSource } from "./rewrite-source.ts";
import { describeGrid } from "./run-gdal.ts";
import type { RasterInput, Unpacked } from "./run-gdal.ts";

/** Undefined: it has no mask, or no nodata value. */
export async function dropNodata(
  context: HandlerContext,
  source: RasterInput,
): Promise<Unpacked | undefined> {
  if (source.driver !== "GTiff" || !(await hasMask(source.file))) return undefined;
  const grid = await describeGrid(context, source).catch(unlessUnreadable);
  const nodata = grid?.bands.find((band) => band.nodata !== null)?.nodata;
  if (grid === undefined || nodata === undefined) return undefined;
  const { file } = await rewriteSource(context, source, grid, { nodata: "none" });
  const text = `It has both a mask and the nodata value ${nodata}.`;
  return { file, findings: [makeFinding("NODATA_AND_MASK", text)] };
}

async function hasMask(file: string): Promise<boolean> {
  try {
    return hasMaskOfAllBands(await withFile(file, readTiffStructure));
  } catch (error) {
    // The checks of its structure refuse it with their reason.
    if (error instanceof TiffError) return false;
    throw error;
  }
}
