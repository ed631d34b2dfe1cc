/**
 * Statistics of a band in which some numbers are infinite, such as an index that was divided by zero: GDAL
 * has none for it. Infinite numbers, NaN and the nodata value are left out.
 */
import { readFile, rm } from "node:fs/promises";
import type { RasterBand } from "../../../core/raster/facts.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";

/** Decoded at once, in 64 bits each. */
const pixelsAtOnce = 8 * 1024 * 1024;

/** Null: the band has no finite number. */
export async function finiteStatistics(
  context: HandlerContext,
  input: RasterInput,
  { width, height, bands }: Pick<InspectedRaster, "width" | "height" | "bands">,
  index: number,
): Promise<RasterBand["statistics"]> {
  const nodata = bands[index]?.nodata ?? null;
  const short = typeof nodata === "number" ? Math.fround(nodata) : nodata;
  const rows = Math.max(1, Math.floor(pixelsAtOnce / width));
  let [count, mean, squares, minimum, maximum] = [0, 0, 0, Infinity, -Infinity];
  for (let row = 0; row < height; row += rows) {
    const file = temporaryFile(context, "finite.raw");
    const window = ["-srcwin", "0", `${row}`, `${width}`, `${Math.min(rows, height - row)}`];
    const args = ["-q", "-of", "ENVI", "-ot", "Float64", "-b", `${index + 1}`, ...window];
    await runGdal(context, "gdal_translate", [...args, input.file, file], {
      ...reading(context, input, "ENVI"),
      // GDAL opens the ENVI file that it has written, and finds its header in the folder.
      env: { GDAL_DISABLE_READDIR_ON_OPEN: "FALSE" },
    });
    const bytes = await readFile(file);
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      const value = bytes.readDoubleLE(at);
      if (!Number.isFinite(value) || value === nodata || value === short) continue;
      count += 1;
      const step = value - mean;
      mean += step / count;
      squares += step * (value - mean);
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
    }
    await Promise.all([rm(file), rm(file.replace(/raw$/, "hdr"), { force: true })]);
  }
  if (count === 0) return null;
  const valid_percent = Math.round((10_000 * count) / (width * height)) / 100;
  return { minimum, maximum, mean, stddev: Math.sqrt(squares / count), valid_percent };
}
