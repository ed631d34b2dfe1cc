/** Opens a raster for windowed reads of its pixels: as it is, or rewritten where it is no GeoTIFF. */
import { openFile } from "../../../adapters/tiles/open-file.ts";
import type { RasterFile } from "../../../adapters/tiles/raster-file.ts";
import { Problem } from "../../../core/errors.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { inspectRaster } from "./inspect.ts";
import type { OpenSource } from "./open-source.ts";
import { openSource } from "./open-source.ts";
import { RasterRejected } from "./plan-source.ts";
import { rewriteSource } from "./rewrite-source.ts";

export interface OpenPixels {
  readonly source: OpenSource;
  readonly crs: RasterCrs;
  readonly raster: RasterFile;
  /** The GeoTIFF that is read. */
  readonly file: string;
  close(): Promise<void>;
}

export async function openPixels(
  context: HandlerContext,
  params: Parameters<typeof openSource>[1] & { readonly band?: number | undefined },
): Promise<OpenPixels> {
  const source = await openSource(context, params);
  const { file, display } = source;
  const inspection = await inspectRaster(context, file, { display, reads: false, samples: false });
  if (inspection.raster === undefined) throw new RasterRejected(display, inspection.findings);
  const { raster } = inspection;
  const { crs } = raster;
  if (crs === null) {
    throw new PermanentError(
      `"${display}" does not name its coordinate reference system, so no area can be found in it. Ingest it with source_crs first.`,
      { code: "CRS_MISSING" },
    );
  }
  const { band = 1 } = params;
  if (band > raster.bands.length) {
    const text = `"${display}" has ${raster.bands.length} bands, no band ${band}.`;
    throw new PermanentError(text, { code: "BAND_NOT_FOUND" });
  }
  const opened = await openGeoTiff(context, file, raster, crs);
  return { source, crs, ...opened };
}

async function openGeoTiff(
  context: HandlerContext,
  file: string,
  raster: InspectedRaster,
  { wkt2 }: RasterCrs,
) {
  const direct =
    raster.driver === "GTiff" || raster.driver === "COG"
      ? await openFile(file, { wkt2 }).catch(unlessUnreadable)
      : undefined;
  if (direct !== undefined) return { file, ...direct };
  const ours = await rewriteSource(context, { file, driver: raster.driver }, raster);
  return { file: ours.file, ...(await openFile(ours.file, { wkt2 })) };
}

/** GDAL reads more kinds of GeoTIFF: it writes one that can be read here. */
function unlessUnreadable(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error;
}
