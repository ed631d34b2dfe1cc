import { Problem } from "../../core/errors.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import { describeTally } from "../../core/zonal/band-statistics.ts";
import { clipWindow } from "../../core/zonal/cover-pixels.ts";
import { createTally } from "../../core/zonal/tally.ts";
import { toPixelRings } from "../../core/zonal/to-pixels.ts";
import type { Area } from "../../core/zonal/zones.ts";
import type { RasterFile } from "./raster-file.ts";
import { fitsSingle } from "./raster-file.ts";
import type { BlockCache } from "./read-window.ts";
import { tallyZones } from "./tally-zones.ts";

/** Read while a client waits. */
const mostPixels = 16_000_000;

/** The statistics of each area, by band, from the full resolution. */
export async function zoneStatistics(
  raster: RasterFile,
  areas: readonly Area[],
  request: {
    readonly bands: readonly number[];
    readonly nodata: number | undefined;
    readonly signal: AbortSignal;
    readonly blocks: BlockCache;
  },
): Promise<Record<string, BandStatistics>[]> {
  const { bands } = request;
  const [{ width, height }] = raster.levels;
  let pixels = 0;
  const zones = areas.map(({ polygons }, index) => {
    const rings = polygons.flatMap((polygon) => toPixelRings(polygon, raster) ?? missing(index));
    const box = clipWindow(rings, { left: 0, top: 0, width, height });
    pixels += (box?.width ?? 0) * (box?.height ?? 0) * bands.length;
    const tallies = bands.map(() => createTally(["median"], fitsSingle(raster.sampleType)));
    return { rings, tallies: () => tallies };
  });
  if (pixels > mostPixels) {
    throw new Problem(
      "BAD_REQUEST",
      `The areas have about ${Math.ceil(pixels / 1e6)} million pixels, and ${mostPixels / 1e6} are computed while a client waits: ask for fewer bands with bidx, or run the workflow zonal_statistics.`,
    );
  }
  await tallyZones(raster, zones, request);
  return zones.map(({ tallies }) =>
    Object.fromEntries(
      tallies().map((tally, index) => [`b${bands[index] ?? 0}`, describeTally(tally)]),
    ),
  );
}

function missing(index: number): never {
  throw new Problem("BAD_REQUEST", `Area ${index} has no place in the layer's projection.`);
}
