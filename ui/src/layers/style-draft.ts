/** The style of a layer while it is edited: between the stored style and the address of the tiles. */
import type { LayerStyle } from "../../../src/core/serving/style.ts";
import type { VectorStyle } from "../map/layer.ts";

export interface StyleDraft {
  /** `low,high` for all bands, or one range for each: `0,255; 10,90`. */
  readonly rescale: string;
  /** A name; empty: the colours of the layer itself. */
  readonly colormap: string;
  /** `1` or `3,2,1`. */
  readonly bands: string;
  readonly vector: VectorStyle;
}

/** A constant, so that maps see the same object and do not redraw. */
const defaultVector: VectorStyle = {};

export function draftOf(style: LayerStyle | null | undefined): StyleDraft {
  return {
    rescale: style?.rescale?.map(String).join("; ") ?? "",
    colormap: style?.colormap_name ?? "",
    bands: style?.bands?.join(",") ?? "",
    vector: style?.vector ?? defaultVector,
  };
}

/** The query of the addresses of tiles; incomplete fields are left out. */
export function tileQuery({ rescale, colormap, bands }: StyleDraft): string {
  const query = new URLSearchParams();
  for (const range of readRanges(rescale) ?? []) query.append("rescale", range.join(","));
  if (colormap !== "") query.set("colormap_name", colormap);
  const numbers = readBands(bands);
  if (numbers !== undefined) query.set("bidx", numbers.join(","));
  return query.toString();
}

export type StyleProblems = Partial<Record<"rescale" | "bands" | "width", string>>;

/** What is wrong in the fields. Such a draft is not stored: it would erase what is there. */
export function findProblems({ rescale, bands, vector }: StyleDraft): StyleProblems {
  return {
    ...(rescale.trim() === "" || readRanges(rescale) !== undefined
      ? {}
      : { rescale: "Two numbers, the lower first: 0,255. Several bands: 0,255; 10,90." }),
    ...(bands.trim() === "" || readBands(bands) !== undefined
      ? {}
      : { bands: "One to four band numbers from 1: 1 or 3,2,1." }),
    ...(vector.width === undefined || (vector.width >= 0 && vector.width <= 50)
      ? {}
      : { width: "A number from 0 to 50." }),
  };
}

/**
 * The style to store, of a draft without problems. Properties that the editor does not show are kept
 * from the stored style.
 */
export function toStyle(
  { rescale, colormap, bands, vector }: StyleDraft,
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
