import { findColours, hintOf } from "./band-names.ts";
import type { DataType, RasterBand, RasterType } from "./facts.ts";
import { dataBands } from "./inspected.ts";

/** A sample with more different values than this holds measurements, not classes. */
const mostClasses = 40;

/**
 * Guesses the type from the bands and the file's name, well enough to choose resampling, compression
 * and colours. `sampleType` is that of the submitted file where its samples were widened to be read.
 */
export function detectRasterType(
  bands: readonly RasterBand[],
  hasPalette: boolean,
  fileName?: string,
  sampleType?: DataType,
): RasterType {
  if (hasPalette) return "categorical";
  const data = dataBands(bands).map((band) => ({
    ...band,
    data_type: sampleType ?? band.data_type,
  }));
  const hasAlpha = data.length < bands.length;
  const [first] = data;
  if (first === undefined) return "unknown";
  if (data.length === 1) return detectSingle(first, fileName);
  if (data.some(isTimed)) return "continuous";
  const isImage = data.every(({ data_type }) => data_type === "uint8" || data_type === "uint16");
  if (data.length === 3 && isImage) {
    const colors = data.map(({ color }) => color);
    const isNamed = findColours(data) !== undefined;
    const isUnnamed = colors.every((color) => color === "undefined" || color === "gray");
    if (isNamed || isUnnamed) return hasAlpha ? "rgba" : "rgb";
  }
  return "multispectral";
}

/** Bands of variables and times are measurements; `variables.ts` names them after both. */
function isTimed({ description }: RasterBand): boolean {
  return /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(description ?? "");
}

function detectSingle(band: RasterBand, fileName: string | undefined): RasterType {
  const { data_type, statistics, sample } = band;
  const minimum = statistics?.minimum ?? sample?.percentile_2;
  const maximum = statistics?.maximum ?? sample?.percentile_98;
  if (minimum === undefined || maximum === undefined) return "unknown";
  const isFloat = data_type.startsWith("float");
  const isFew = sample !== null && sample.whole && sample.distinct <= mostClasses;
  if (isFew && isByte(data_type)) return "categorical";
  if (isFloat && minimum >= -1 && maximum <= 1 && minimum < 0) return "vegetation_index";
  return isTerrain(band, { minimum, maximum }, fileName) ? "dem" : "continuous";
}

const isByte = (type: DataType) => type === "uint8" || type === "int8";

/** The mean step between neighbours, as a share of the range, of data that is no surface. */
const roughest = 0.15;

/**
 * Heights lie between the deepest trench and the highest summit, are not flat and change smoothly.
 * Numbers without a sign are usually a sensor's, unless a name or a unit says that they are heights.
 */
function isTerrain(
  band: RasterBand,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  fileName: string | undefined,
): boolean {
  const { data_type, sample } = band;
  if (isByte(data_type)) return false;
  if (minimum < -11_500 || maximum > 9000 || maximum - minimum <= 10) return false;
  if (isTimed(band)) return false;
  const hint = hintOf(band, fileName);
  if (hint !== undefined) return hint === "height";
  return !data_type.startsWith("uint") && (sample?.roughness ?? 0) <= roughest;
}

/** The detected types that are compatible with a declared type. */
const compatible: Readonly<Record<RasterType, readonly RasterType[]>> = {
  rgb: ["rgb", "rgba"],
  rgba: ["rgba", "rgb"],
  multispectral: ["multispectral", "rgb", "rgba"],
  categorical: ["categorical", "continuous", "dem", "unknown"],
  dem: ["dem", "continuous", "unknown"],
  vegetation_index: ["vegetation_index", "continuous", "dem", "unknown"],
  flood_depth: ["flood_depth", "dem", "continuous", "categorical", "unknown"],
  continuous: ["continuous", "dem", "vegetation_index", "flood_depth", "categorical", "unknown"],
  unknown: [],
};

export function isCompatible(declared: RasterType, detected: RasterType): boolean {
  return declared === "unknown" || compatible[declared].includes(detected);
}
