/** Computes the statistics of the cells of one chunk, all resolutions in one pass over the pixels. */
import { getResolution } from "h3-js";
import type { H3Configuration } from "../../core/h3/configuration.ts";
import { resolutionsOf } from "../../core/h3/configuration.ts";
import type { ZonalValues } from "../../core/zonal/statistics.ts";
import type { Tally } from "../../core/zonal/tally.ts";
import { createTally } from "../../core/zonal/tally.ts";
import { toPixelRings } from "../../core/zonal/to-pixels.ts";
import type { RasterFile } from "../tiles/raster-file.ts";
import { fitsSingle } from "../tiles/raster-file.ts";
import { createBlockCache } from "../tiles/read-window.ts";
import type { Zone } from "../tiles/tally-zones.ts";
import { tallyZones } from "../tiles/tally-zones.ts";
import { cellPolygon } from "./cell-polygon.ts";
import { cellsBelow } from "./chunks.ts";

export interface CellRow {
  readonly cell: string;
  readonly values: ZonalValues;
}

/** The parts that are read follow the blocks of one band: no block is read twice. */
const blockCacheBytes = 8 * 1024 * 1024;

/** By resolution: the cells with data, ascending. */
export async function computeChunk(
  raster: RasterFile,
  { h3_l3, coarser }: { readonly h3_l3: string; readonly coarser: readonly string[] },
  configuration: H3Configuration,
  options: { readonly signal: AbortSignal; readonly onPart?: (done: number) => void },
): Promise<ReadonlyMap<number, readonly CellRow[]>> {
  const { statistics, band, nodata } = configuration;
  const made = new Map<number, CellRow[]>();
  const zones: Zone[] = [];
  // Tallies of finished cells serve the next ones: most cells are small, and new memory would be most of their cost.
  const free: Tally[] = [];
  const isSingle = fitsSingle(raster.sampleType);
  for (const resolution of resolutionsOf(configuration)) {
    const rows: CellRow[] = [];
    made.set(resolution, rows);
    const own = coarser.filter((cell) => getResolution(cell) === resolution);
    for (const cell of [...own, ...cellsBelow(h3_l3, resolution)]) {
      // A cell without a place in the raster's projection has no pixels there.
      const rings = toPixelRings(cellPolygon(cell), raster) ?? [];
      let tallies: [Tally] | undefined;
      zones.push({
        rings,
        tallies: () => (tallies ??= [free.pop() ?? createTally(statistics, isSingle)]),
        finish: () => {
          if (tallies === undefined) return;
          const [tally] = tallies;
          tallies = undefined;
          const values = tally.result();
          if (values.count > 0) rows.push({ cell, values });
          tally.clear();
          free.push(tally);
        },
      });
    }
  }
  await tallyZones(raster, zones, {
    bands: [band],
    nodata: nodata ?? undefined,
    signal: options.signal,
    blocks: createBlockCache(blockCacheBytes),
    onPart: options.onPart,
  });
  for (const rows of made.values()) rows.sort((a, b) => (a.cell < b.cell ? -1 : 1));
  return made;
}
