/** Writes rasters of one band, all on one grid, as the bands of one COG. */
import { rm, writeFile } from "node:fs/promises";
import { recordFathomRaster } from "../../../adapters/postgres/repositories/fathom.ts";
import type { FathomRow } from "../../../adapters/postgres/queries/fathom.ts";
import { fathomPath } from "../../../core/fathom/configuration.ts";
import { toGdalType } from "../../../core/raster/data-type.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { layOut } from "../../../core/raster/lay-out.ts";
import { stackVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { encode } from "../raster/encode.ts";
import { finishCog } from "../raster/finish-cog.ts";
import { planSource } from "../raster/plan-source.ts";
import { temporaryFile, threadsOf } from "../raster/run-gdal.ts";
import { requireDatabase } from "../require-database.ts";

export interface BandFile {
  /** A GeoTIFF that this task has written. */
  readonly file: string;
  readonly raster: Pick<InspectedRaster, "width" | "height" | "crs" | "transform" | "bands">;
}

/** The bands are in the order of the return periods, and named after them. */
export async function writeBands(
  context: HandlerContext,
  row: FathomRow,
  bands: readonly BandFile[],
  progress: readonly [number, number],
) {
  const vrt = temporaryFile(context, "stack.vrt");
  await writeFile(vrt, describeStack(row, bands));
  const wanted = { raster_type: "flood_depth" } as const;
  const { raster, plan, profile } = await planSource(context, vrt, row.product, wanted, {
    isOurs: true,
  });
  const output = temporaryFile(context, "output.tif");
  await encode(context, { file: vrt, driver: "VRT" }, output, {
    plan,
    profile,
    threads: threadsOf(context),
    progress,
    size: [raster.width, raster.height],
    bands: raster.bands,
  });
  for (const { file } of bands) await rm(file, { force: true });
  return finishCog(context, output, fathomPath(row), "flood_depth");
}

function describeStack(row: FathomRow, bands: readonly BandFile[]): string {
  const layout = layOut(bands.map(({ raster }) => raster));
  const [first] = bands;
  const isOneGrid =
    typeof layout !== "string" &&
    bands.every(
      ({ raster: { width, height } }) =>
        width === layout.frame.width && height === layout.frame.height,
    );
  if (!isOneGrid || first === undefined) {
    const why = typeof layout === "string" ? layout : "they do not cover the same area.";
    const text = `The return periods of ${row.place} cannot be bands of one raster: ${why}`;
    throw new PermanentError(text, { code: "MOSAIC_NOT_POSSIBLE" });
  }
  const [band] = first.raster.bands;
  return stackVrt({
    ...layout.frame,
    type: toGdalType(band?.data_type ?? "float32"),
    nodata: band?.nodata ?? null,
    bands: bands.map(({ file }, index) => ({
      file,
      description: `1in${row.return_periods[index] ?? 0}`,
    })),
  });
}

/** Records the file after it was written: a task that dies before writes the same bytes again. */
export async function finishRaster(
  context: HandlerContext,
  row: FathomRow,
  { blob_path, facts }: Awaited<ReturnType<typeof finishCog>>,
) {
  const { bytes, checksum } = facts;
  const etag = (await context.storage.head(blob_path))?.etag ?? null;
  const made = { made_of: row.input_hash, path: blob_path, bytes, etag, checksum, facts };
  await recordFathomRaster(requireDatabase(context), row, made);
  return { blob_path, checksum };
}
