import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { inspectRaster } from "../raster/inspect.ts";
import { openSource } from "../raster/open-source.ts";
import { RasterRejected } from "../raster/plan-source.ts";
import { rewriteSource } from "../raster/rewrite-source.ts";
import { findMade, requirePlanned } from "./check-made.ts";
import type { BandFile } from "./write-bands.ts";
import { finishRaster, writeBands } from "./write-bands.ts";

/** Handler fathom_band_stack: the return periods of one tile as the bands of one COG. */
export const bandStack = defineHandler("fathom_band_stack", async (params, context) => {
  const row = await requirePlanned(context, { ...params, phase: "stack" });
  const made = await findMade(context, row);
  if (made !== undefined) {
    return { ...params, blob_path: made.path, checksum: made.checksum, reused: true };
  }
  const bands: BandFile[] = [];
  for (const [index, { path, tag }] of row.inputs.entries()) {
    context.signal.throwIfAborted();
    bands.push(await rewriteBand(context, path, tag));
    context.progress((40 * (index + 1)) / row.inputs.length);
  }
  const written = await writeBands(context, row, bands, [40, 95]);
  return { ...params, ...(await finishRaster(context, row, written)), reused: false };
});

/** A submitted file becomes a GeoTIFF of the task, over which a virtual raster may be made. */
async function rewriteBand(context: HandlerContext, path: string, tag: string): Promise<BandFile> {
  const { file, display, fingerprint } = await openSource(context, { blob_path: path });
  if (fingerprint !== tag) {
    throw new PermanentError(
      `"${display}" has changed since the inventory: run the workflow again.`,
      { code: "SOURCE_CHANGED" },
    );
  }
  const inspection = await inspectRaster(context, file, { display, reads: false, samples: false });
  if (inspection.raster === undefined) throw new RasterRejected(display, inspection.findings);
  const { raster } = inspection;
  if (raster.bands.length !== 1) {
    const text = `"${display}" has ${raster.bands.length} bands: a return period is one.`;
    throw new PermanentError(text, { code: "BANDS_DIFFER" });
  }
  const ours = await rewriteSource(context, { file, driver: raster.driver }, raster);
  return { file: ours.file, raster };
}
