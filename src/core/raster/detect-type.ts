import type { RasterBand, RasterType } from "./facts.ts";
import { dataBands } from "./inspected.ts";

const visible = new Set(["red", "green", "blue"]);
/** A sample with more different values than this holds measurements, not classes. */
const mostClasses = 40;

/** Guesses the type from the bands alone, well enough to choose resampling and compression. */
export function detectRasterType(bands: readonly RasterBand[], hasPalette: boolean): RasterType {
  if (hasPalette) return "categorical";
  const data = dataBands(bands);
  const hasAlpha = data.length < bands.length;
  const [first] = data;
  if (first === undefined) return "unknown";
  if (data.length === 1) return detectSingle(first);
  const isImage = data.every(({ data_type }) => data_type === "uint8" || data_type === "uint16");
  if (data.length === 3 && isImage) {
    const colors = data.map(({ color }) => color);
    const isNamed = colors.every((color) => visible.has(color));
    const isUnnamed = colors.every((color) => color === "undefined" || color === "gray");
    if (isNamed || isUnnamed) return hasAlpha ? "rgba" : "rgb";
  }
  return "multispectral";
}

function detectSingle({ data_type, statistics, sample }: RasterBand): RasterType {
  const minimum = statistics?.minimum ?? sample?.percentile_2;
  const maximum = statistics?.maximum ?? sample?.percentile_98;
  if (minimum === undefined || maximum === undefined) return "unknown";
  const isFloat = data_type.startsWith("float");
  const isFew = sample !== null && sample.whole && sample.distinct <= mostClasses;
  if (!isFloat && isFew && data_type === "uint8") return "categorical";
  if (isFloat && minimum >= -1 && maximum <= 1 && minimum < 0) return "vegetation_index";
  const isWide = data_type !== "uint8" && data_type !== "int8";
  // Between the deepest trench and the highest summit, and not flat.
  if (isWide && minimum >= -11_500 && maximum <= 9000 && maximum - minimum > 10) return "dem";
  return "continuous";
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
