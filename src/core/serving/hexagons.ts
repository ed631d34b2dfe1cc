/** How values by H3 cell are shown: which resolution at which zoom, and in which colours. */
import type { JsonObject } from "../model/json.ts";
import type { ColormapName } from "./colormaps.ts";
import { namedColormap } from "./colormaps.ts";

/** Finer tiles would show the same cells. */
export const mostHexagonZoom = 14;

/** The resolution whose cells have edges of about fifteen pixels at this zoom, in tiles of 512, among those that there are. */
export function resolutionAt(
  zoom: number,
  { min_resolution, max_resolution }: { min_resolution: number; max_resolution: number },
): number {
  const wanted = Math.round(0.712 * zoom + 0.4);
  return Math.max(min_resolution, Math.min(max_resolution, wanted));
}

const preferred = ["mean", "sum", "length", "area", "count"];

type Columns = readonly { readonly name: string; readonly type: string }[];

/** The columns that can colour cells. */
export function statsOf(columns: Columns): string[] {
  return columns.filter(({ type }) => type === "number").map(({ name }) => name);
}

/** The column that colours the cells; undefined: there is no such column of numbers. */
export function chooseStat(columns: Columns, wanted: string | undefined): string | undefined {
  const numbers = statsOf(columns);
  if (wanted !== undefined) return numbers.includes(wanted) ? wanted : undefined;
  return preferred.find((name) => numbers.includes(name)) ?? numbers[0];
}

/** Between 2 and 98 per cent of the values, so that a few extremes do not take all colours. */
export function rangeOf(values: readonly number[]): [number, number] {
  const sorted = values.filter(Number.isFinite).toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  const [low, high] = [at(0.02), at(0.98)];
  return low < high ? [low, high] : [low, low + 1];
}

const stops = 9;

/** A colour for each value, as an expression of MapLibre. Cells without a value are not drawn. */
export function colourExpression(
  stat: string,
  [low, high]: readonly [number, number],
  name: ColormapName,
): (string | number | (string | string[])[])[] {
  const table = namedColormap(name);
  const colours = Array.from({ length: stops }, (_, index) => {
    const share = index / (stops - 1);
    const at = 4 * Math.round(share * 255);
    const [red = 0, green = 0, blue = 0] = table.slice(at, at + 3);
    return [low + share * (high - low), `rgb(${red},${green},${blue})`];
  });
  return ["interpolate", ["linear"], ["to-number", ["get", stat]], ...colours.flat()];
}

/** More values are told in intervals. */
const mostValues = 24;
const intervals = 10;

/** A histogram of few values as it is; one of many, as of heights, by intervals of equal width. */
export function shortenHistogram(
  histogram: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const entries = Object.entries(histogram).map(
    ([value, share]) => [Number(value), share] as const,
  );
  if (entries.length <= mostValues) return histogram;
  const values = entries.map(([value]) => value);
  const low = values.reduce((least, value) => Math.min(least, value));
  const high = values.reduce((most, value) => Math.max(most, value));
  const width = (high - low) / intervals;
  const shares = new Array<number>(intervals).fill(0);
  for (const [value, share] of entries) {
    const at = Math.min(intervals - 1, Math.floor((value - low) / width));
    shares[at] = (shares[at] ?? 0) + share;
  }
  // Enough digits that no two edges read the same.
  const decimals = Math.min(100, Math.max(0, 2 - Math.floor(Math.log10(width))));
  const edge = (at: number) => String(Number((low + at * width).toFixed(decimals)));
  return Object.fromEntries(shares.map((share, at) => [`${edge(at)} to ${edge(at + 1)}`, share]));
}

/** What a client needs besides the tiles: it stands in the TileJSON. */
export interface HexagonLegend {
  readonly stat: string;
  readonly stats: readonly string[];
  readonly range: readonly [number, number];
  readonly fill: ReturnType<typeof colourExpression>;
}

/** The colours of a legend, from the least value to the greatest, in equal steps. */
export function coloursOf({ fill }: HexagonLegend): string[] {
  return fill.slice(3).filter((each) => typeof each === "string");
}

export function legendOf(tilejson: object): HexagonLegend | undefined {
  return (tilejson as { readonly "rmhdag:hexagons"?: HexagonLegend })["rmhdag:hexagons"];
}

/** The drawing of one layer of hexagons. */
export function drawHexagons(
  source: string,
  name: string,
  { stat, fill }: HexagonLegend,
): (JsonObject & { readonly id: string; readonly type: string })[] {
  return [
    {
      id: `${source}/${name}/fill`,
      type: "fill",
      source,
      "source-layer": name,
      filter: ["has", stat],
      paint: {
        "fill-color": fill as never,
        "fill-opacity": 0.75,
        "fill-outline-color": "#ffffff55",
      },
    },
  ];
}
