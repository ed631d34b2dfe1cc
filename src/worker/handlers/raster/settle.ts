/**
 * A warp as numbers in a file. Encoding a COG reads everything twice, for the overviews and for the
 * pixels; a virtual warp that does not fit into GDAL's cache would be computed twice, which made an
 * ingest take almost twice as long as it should.
 *
 * It is cut from the same virtual raster as tiles are, not warped anew: GDAL's fast transformation
 * is exact only within a block, and other blocks would give other pixels than the tiles have.
 */
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { pixelBytes } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { describeGrid } from "./describe-grid.ts";
import { runGdal } from "./run-gdal.ts";
import { temporaryFile } from "./temporary.ts";

export async function settle(
  context: HandlerContext,
  warped: string,
  bands: InspectedRaster["bands"],
): Promise<string> {
  const { width, height } = await describeGrid(context, warped);
  // One byte more for the mask that the warp may have added.
  await ensureSpace(context.workDir, (pixelBytes(bands) + 1) * width * height);
  const settled = temporaryFile(context, "settled.tif");
  const layout = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "BIGTIFF=IF_SAFER"];
  const options = layout.flatMap((option) => ["-co", option]);
  await runGdal(context, "gdal_translate", ["-q", "-of", "GTiff", ...options, warped, settled]);
  return settled;
}
