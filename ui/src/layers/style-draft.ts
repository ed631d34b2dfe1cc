/** How a layer is tried on the map, as an editor holds it: between a stored style and an address. */
import type { LayerStyle } from "../../../src/core/serving/style.ts";
import type { VectorLook } from "../map/layer.ts";

export interface LayerLook {
  /** `low,high`, and for several bands one after the other: `0,255; 10,90`. */
  readonly rescale: string;
  /** A name, or empty for what the layer has of itself. */
  readonly colormap: string;
  /** `1` or `3,2,1`. */
  readonly bands: string;
  readonly vector: VectorLook;
}

/** One and the same, so that a map can tell that nothing changed. */
const plain: VectorLook = {};

export function lookOf(style: LayerStyle | null | undefined): LayerLook {
  return {
    rescale: style?.rescale?.map(String).join("; ") ?? "",
    colormap: style?.colormap_name ?? "",
    bands: style?.bands?.join(",") ?? "",
    vector: style?.vector ?? plain,
  };
}

/** As the addresses of tiles take it; what is not complete yet is left out. */
export function lookQuery({ rescale, colormap, bands }: LayerLook): string {
  const query = new URLSearchParams();
  for (const range of readRanges(rescale) ?? []) query.append("rescale", range.join(","));
  if (colormap !== "") query.set("colormap_name", colormap);
  const numbers = readBands(bands);
  if (numbers !== undefined) query.set("bidx", numbers.join(","));
  return query.toString();
}

/** What is stored: the look, and of the style before it what no field of the editor shows. */
export function styleOf(
  { rescale, colormap, bands, vector }: LayerLook,
  before: LayerStyle | null,
): LayerStyle | null {
  const { nodata, colormap: own } = before ?? {};
  const ranges = readRanges(rescale);
  const numbers = readBands(bands);
  const style = {
    ...(nodata === undefined ? {} : { nodata }),
    ...(own === undefined || colormap !== "" ? {} : { colormap: own }),
    ...(ranges === undefined ? {} : { rescale: ranges }),
    ...(colormap === "" ? {} : { colormap_name: colormap as LayerStyle["colormap_name"] }),
    ...(numbers === undefined ? {} : { bands: numbers }),
    ...(Object.keys(vector).length === 0 ? {} : { vector }),
  };
  return Object.keys(style).length === 0 ? null : style;
}

export function readRanges(text: string): [number, number][] | undefined {
  const ranges = text.split(";").map((part) => part.split(",").map(readNumber));
  return ranges.every(isRange) ? ranges : undefined;
}

export function readBands(text: string): number[] | undefined {
  const bands = text.split(",").map(readNumber);
  return bands.length <= 4 && bands.every((band) => Number.isInteger(band) && band >= 1)
    ? bands
    : undefined;
}

function readNumber(text: string): number {
  return text.trim() === "" ? NaN : Number(text);
}

function isRange(numbers: readonly number[]): numbers is [number, number] {
  const [low = NaN, high = NaN] = numbers;
  return numbers.length === 2 && low < high;
}
