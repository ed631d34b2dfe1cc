/** Finds the H3 cells of one resolution whose boxes meet a box of longitudes and latitudes. */
import { cellPolygon } from "./cell-polygon.ts";

export interface PlacedCell {
  readonly cell: string;
  /** Flat and closed, counterclockwise. */
  readonly ring: Float64Array;
  readonly box: readonly [number, number, number, number];
}

export interface CellIndex {
  meeting(west: number, south: number, east: number, north: number): Iterable<PlacedCell>;
}

/**
 * Longitudes of cells go on beyond 180 where they cross the antimeridian, those of features do not: such a
 * cell is there twice, once at either side.
 */
export function indexCells(cells: readonly string[]): CellIndex {
  const placed = cells.flatMap((cell) => placesOf(cell));
  const size = Math.max(0.001, ...placed.map(({ box: [, south, , north] }) => north - south));
  const buckets = new Map<string, PlacedCell[]>();
  for (const each of placed) {
    for (const key of keysOf(each.box, size)) {
      const known = buckets.get(key);
      if (known === undefined) buckets.set(key, [each]);
      else known.push(each);
    }
  }
  return {
    *meeting(west, south, east, north) {
      const keys = keysOf([west, south, east, north], size, buckets);
      const seen = new Set<PlacedCell>();
      for (const key of keys) {
        for (const each of buckets.get(key) ?? []) {
          const [left, bottom, right, top] = each.box;
          if (left > east || right < west || bottom > north || top < south) continue;
          if (seen.has(each)) continue;
          seen.add(each);
          yield each;
        }
      }
    },
  };
}

/** All buckets, where a box covers more than there are. */
function keysOf(
  [west, south, east, north]: PlacedCell["box"],
  size: number,
  known?: ReadonlyMap<string, unknown>,
): Iterable<string> {
  const at = (degrees: number) => Math.floor(degrees / size);
  const [left, bottom, right, top] = [at(west), at(south), at(east), at(north)];
  if (known !== undefined && (right - left + 1) * (top - bottom + 1) > known.size) {
    return known.keys();
  }
  const keys: string[] = [];
  for (let x = left; x <= right; x++) {
    for (let y = bottom; y <= top; y++) keys.push(`${x} ${y}`);
  }
  return keys;
}

function placesOf(cell: string): PlacedCell[] {
  const [positions = []] = cellPolygon(cell);
  return [-360, 0, 360].flatMap((turn) => {
    const ring = Float64Array.from(positions.flatMap(([lon = 0, lat = 0]) => [lon + turn, lat]));
    const lons = ring.filter((_, index) => index % 2 === 0);
    const lats = ring.filter((_, index) => index % 2 === 1);
    const [west, east] = [Math.min(...lons), Math.max(...lons)];
    if (east <= -180 || west >= 180) return [];
    return [{ cell, ring, box: [west, Math.min(...lats), east, Math.max(...lats)] as const }];
  });
}
