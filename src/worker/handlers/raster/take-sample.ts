import { readFile, rm } from "node:fs/promises";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { bytesOf, toGdalType } from "../../../core/raster/data-type.ts";
import type { DataType, RasterBand } from "../../../core/raster/facts.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { readSamples, summariseSample } from "../../../core/raster/sample.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";

const longestSide = 512;
/** With more bands, reading the sample takes longer than its statistics are worth. */
export const mostSampledBands = 32;
/** The types that ENVI can hold; the sample is written in ENVI, whose file is plain numbers. */
const plainTypes = new Set(["uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"]);
/** For types that ENVI does not hold. */
const otherTypes: Partial<Readonly<Record<DataType, DataType>>> = {
  int8: "int16",
  int64: "float64",
  uint64: "float64",
};
const writtenType = (type: DataType) => otherTypes[type] ?? type;

/**
 * Adds statistics of a reduced copy to each band. Without a sample the bands are returned as they
 * are.
 */
export async function takeSample(
  context: HandlerContext,
  input: RasterInput,
  { bands, width, height, transparency }: InspectedRaster,
): Promise<readonly RasterBand[]> {
  const [first] = bands;
  if (first === undefined || bands.length > mostSampledBands) return bands;
  const written = writtenType(first.data_type);
  if (!plainTypes.has(written)) return bands;
  if (bands.some(({ data_type }) => data_type !== first.data_type)) return bands;
  const [columns, rows] = sampleSize(width, height);
  const raw = temporaryFile(context, "sample.img");
  // The mask is written as one band more.
  const masks = transparency === "mask" ? ["-b", "mask,1"] : [];
  const chosen = masks.length === 0 ? [] : bands.flatMap((_, at) => ["-b", String(at + 1)]);
  const count = bands.length + masks.length / 2;
  const args = [
    ...chosen,
    ...masks,
    "-q",
    "-of",
    "ENVI",
    "-co",
    "INTERLEAVE=BSQ",
    "-r",
    "nearest",
    "-outsize",
    String(columns),
    String(rows),
  ];
  try {
    // GDAL opens the ENVI file that it has written, and finds its header in the folder.
    const env = { GDAL_DISABLE_READDIR_ON_OPEN: "FALSE" };
    const options = { ...reading(context, input, "ENVI"), env };
    const isOther = masks.length > 0 || written !== first.data_type;
    const type = isOther ? ["-ot", toGdalType(written)] : [];
    await runGdal(context, "gdal_translate", [...args, ...type, input.file, raw], options);
  } catch (error) {
    // A damaged file is found when all its blocks are read.
    if (error instanceof GdalError && error.category === "permanent") return bands;
    throw error;
  }
  const bytes = await readFile(raw);
  await rm(raw, { force: true });
  const pixels = columns * rows;
  if (bytes.length < pixels * count * bytesOf(written)) return bands;
  return summarise(bands, readSamples(bytes, written, pixels, count), columns);
}

/** The columns and rows of a sample. */
export function sampleSize(width: number, height: number): [columns: number, rows: number] {
  const shrink = Math.min(1, longestSide / Math.max(width, height));
  return [Math.max(1, Math.round(width * shrink)), Math.max(1, Math.round(height * shrink))];
}

/** `values`: the pixels of each band, and those of the mask where there is one. */
export function summarise(
  bands: readonly RasterBand[],
  values: readonly ArrayLike<number>[],
  columns: number,
): readonly RasterBand[] {
  const alphaAt = bands.findIndex(({ color }) => color === "alpha");
  const alpha = values[values.length > bands.length ? bands.length : alphaAt];
  const isValid = alpha === undefined ? undefined : (index: number) => (alpha[index] ?? 0) > 0;
  return bands.map((band, index) => ({
    ...band,
    sample: summariseSample(values[index] ?? [], band.nodata, isValid, columns) ?? null,
  }));
}
