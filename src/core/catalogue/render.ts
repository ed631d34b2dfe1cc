/** Chooses how a raster is shown by default, so that clients do not show a black picture. */
import type { JsonObject } from "../model/json.ts";
import { findColours } from "../raster/band-names.ts";
import type { RasterBand } from "../raster/facts.ts";
import { dataBands } from "../raster/inspected.ts";
import type { DescribedRaster } from "./raster-item.ts";

const ramps = new Map([
  ["dem", "terrain"],
  ["flood_depth", "blues"],
  ["vegetation_index", "rdylgn"],
  ["continuous", "viridis"],
]);

export function chooseRender(facts: DescribedRaster): JsonObject | undefined {
  const bands = dataBands(facts.bands);
  const first = bands[0];
  if (first === undefined || first.color === "palette" || facts.raster_type === "categorical") {
    return undefined;
  }
  const isImagery = ["rgb", "rgba", "multispectral"].includes(facts.raster_type);
  const shown = bands.length >= 3 && isImagery ? chooseThree(bands) : [first];
  const ranges = shown.map(rangeOf);
  const isPlain = shown.every(({ data_type }) => data_type === "uint8");
  const ramp = shown.length === 1 ? ramps.get(facts.raster_type) : undefined;
  const render = {
    ...(shown.length === 3 ? { bidx: shown.map((band) => facts.bands.indexOf(band) + 1) } : {}),
    ...(isPlain || !ranges.every((range) => range !== undefined) ? {} : { rescale: ranges }),
    ...(ramp === undefined ? {} : { colormap_name: ramp }),
  };
  return Object.keys(render).length === 0 ? undefined : render;
}

/** Chooses red, green and blue by name, because some files have blue first. */
function chooseThree(bands: readonly RasterBand[]): RasterBand[] {
  return findColours(bands) ?? bands.slice(0, 3);
}

/** The range without the outermost values, which would leave no contrast for the others. */
function rangeOf({ sample, statistics }: RasterBand): [number, number] | undefined {
  const low = sample?.percentile_2 ?? statistics?.minimum;
  const high = sample?.percentile_98 ?? statistics?.maximum;
  return low === undefined || high === undefined || low >= high ? undefined : [low, high];
}
