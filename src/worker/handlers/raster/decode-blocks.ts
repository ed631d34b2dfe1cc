/**
 * Decodes every block of a raster once, for its statistics and to find damage: in threads of the worker
 * where the blocks of a TIFF are plain, otherwise by GDAL.
 */
import { findPlainBlocks } from "../../../adapters/cog/find-plain-blocks.ts";
import type { PlainBlocks } from "../../../adapters/cog/find-plain-blocks.ts";
import { readAllBlocks } from "../../../adapters/cog/read-all-blocks.ts";
import type { ReadBlocks } from "../../../adapters/cog/read-all-blocks.ts";
import type { GdalOutput } from "../../../adapters/gdal/gdal.ts";
import type { RasterBand } from "../../../core/raster/facts.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { reading, runGdal } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";
import { mostSampledBands, sampleSize, summarise } from "./take-sample.ts";

/** Either what the threads have read, or what GDAL has printed. */
export type Decoded =
  | { readonly blocks: PlainBlocks; readonly read: ReadBlocks }
  | { readonly blocks: undefined; readonly printed: GdalOutput };

export interface Decoding {
  readonly decoded: Promise<Decoded>;
  /** A sample of the pixels is taken in the same pass, unless GDAL has to read them after all. */
  readonly isSampled: boolean;
}

export async function startDecoding(
  context: HandlerContext,
  input: RasterInput,
): Promise<Decoding> {
  const blocks = input.driver === "GTiff" ? await findPlainBlocks(input.file) : undefined;
  if (blocks === undefined) return { decoded: decodeByGdal(context, input), isSampled: false };
  const isSampled = blocks.samples <= mostSampledBands;
  const size = isSampled ? sampleSize(blocks.width, blocks.height) : undefined;
  const decode = async (): Promise<Decoded> => {
    const read = await readAllBlocks(blocks, size, context.signal);
    return read === undefined ? decodeByGdal(context, input) : { blocks, read };
  };
  return { decoded: decode(), isSampled };
}

/** Prints the statistics that GDAL computes of all blocks. */
export async function decodeByGdal(
  context: HandlerContext,
  input: RasterInput,
): Promise<Decoded & { readonly blocks: undefined }> {
  const args = ["-json", "-norat", "-noct", "-stats", input.file];
  const env = { GDAL_ERROR_ON_LIBJPEG_WARNING: "TRUE" };
  const printed = await runGdal(context, "gdalinfo", args, { ...reading(context, input), env });
  return { blocks: undefined, printed };
}

/** The bands with the statistics that the threads have found; undefined where GDAL has decoded them. */
export function statisticsOf(
  decoded: Decoded,
  raster: InspectedRaster,
): readonly RasterBand[] | undefined {
  if (decoded.blocks === undefined || !areSame(decoded.blocks, raster)) return undefined;
  const { statistics } = decoded.read;
  return raster.bands.map((band, at) => ({ ...band, statistics: statistics[at] ?? null }));
}

/** The bands with the sample that the threads have taken; undefined where they have taken none. */
export async function sampleOf(
  { decoded, isSampled }: Decoding,
  raster: InspectedRaster,
): Promise<readonly RasterBand[] | undefined> {
  if (!isSampled) return undefined;
  // What GDAL finds wrong is told where its errors are read.
  const found = await decoded.catch(() => undefined);
  if (found?.blocks === undefined || !areSame(found.blocks, raster)) return undefined;
  if (found.read.reduced === undefined || raster.transparency === "mask") return undefined;
  const [columns] = sampleSize(raster.width, raster.height);
  return summarise(raster.bands, found.read.reduced, columns);
}

/** True where GDAL sees the same pixels: size, bands, types and the value of empty ones. */
function areSame(blocks: PlainBlocks, { width, height, bands }: InspectedRaster): boolean {
  const hole = Number.isNaN(blocks.nodata) ? null : Math.fround(blocks.nodata);
  return (
    blocks.width === width &&
    blocks.height === height &&
    blocks.samples === bands.length &&
    bands.every(({ data_type, nodata }) => {
      const declared = typeof nodata === "number" ? Math.fround(nodata) : nodata;
      return data_type === blocks.sampleType && (declared === "nan" ? null : declared) === hole;
    })
  );
}
