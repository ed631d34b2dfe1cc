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

/** What a client needs besides the tiles: it stands in the TileJSON. */
export interface HexagonLegend {
  readonly stat: string;
  readonly stats: readonly string[];
  readonly range: readonly [number, number];
  readonly fill: ReturnType<typeof colourExpression>;
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
