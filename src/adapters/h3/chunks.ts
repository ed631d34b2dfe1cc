/** The cells of resolution 3 along which work is cut, and the cells that each of them computes. */
import { cellToChildren, cellToParent, getRes0Cells } from "h3-js";
import { once } from "../../core/once.ts";
import { chunkResolution } from "../../core/h3/configuration.ts";
import type { Bbox } from "../../core/geometry/geometry.ts";
import { cellPolygon } from "./cell-polygon.ts";
import { landBits } from "./land-cells.ts";

/** All 41,162 cells, ascending: the order of the bits in `land-cells.ts`. */
export const allChunks = once((): readonly string[] =>
  getRes0Cells()
    .flatMap((cell) => cellToChildren(cell, chunkResolution))
    .toSorted(),
);

/** The cells that touch land. */
const landChunks = once((): ReadonlySet<string> => {
  const bits = Buffer.from(landBits, "base64");
  return new Set(
    allChunks().filter((_, index) => (((bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1),
  );
});

/** The cells of a resolution below a chunk, ascending; none where the resolution is coarser. */
export function cellsBelow(chunk: string, resolution: number): readonly string[] {
  return resolution < chunkResolution ? [] : cellToChildren(chunk, resolution).toSorted();
}

/**
 * Cells that are coarser than a chunk, by the chunk that computes them: the first of their children
 * among the given chunks, so that each is computed once.
 */
export function assignCoarser(
  chunks: readonly string[],
  resolutions: readonly number[],
): ReadonlyMap<string, readonly string[]> {
  const made = new Map<string, string[]>();
  for (const resolution of resolutions.filter((each) => each < chunkResolution)) {
    const seen = new Set<string>();
    for (const chunk of chunks.toSorted()) {
      const parent = cellToParent(chunk, resolution);
      if (seen.has(parent)) continue;
      seen.add(parent);
      made.set(chunk, [...(made.get(chunk) ?? []), parent]);
    }
  }
  return made;
}

/** The box around a cell; its longitudes go on beyond 180 across the antimeridian. */
function boxOf(cell: string): Bbox {
  const [ring = []] = cellPolygon(cell);
  const lons = ring.map(([lon = 0]) => lon);
  const lats = ring.map(([, lat = 0]) => lat);
  return [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)];
}

const chunkBoxes = once(
  (): ReadonlyMap<string, Bbox> => new Map(allChunks().map((cell) => [cell, boxOf(cell)])),
);

/** The chunks whose boxes overlap all of the given boxes. */
export function chunksIn(boxes: readonly Bbox[], landOnly: boolean): string[] {
  const land = landChunks();
  return [...chunkBoxes()]
    .filter(
      ([cell, box]) => (!landOnly || land.has(cell)) && boxes.every((each) => overlap(box, each)),
    )
    .map(([cell]) => cell);
}

/** Degrees of latitude by which the cells below a cell of resolution 0, 1 or 2 reach beyond it, at most. */
const beyond = [6.7, 2.4, 0.7];

/**
 * The same as `chunksIn` of one small box, ascending, found from the coarsest cells downwards: a few hundred
 * boxes are made instead of all.
 */
export function chunksNear(box: Bbox): string[] {
  let cells = getRes0Cells();
  for (const [resolution, margin] of beyond.entries()) {
    cells = cells
      .filter((cell) => overlap(widen(boxOf(cell), margin), box))
      .flatMap((cell) => cellToChildren(cell, resolution + 1));
  }
  return cells.filter((cell) => overlap(boxOf(cell), box)).toSorted();
}

function widen([west, south, east, north]: Bbox, margin: number): Bbox {
  const [bottom, top] = [south - margin, north + margin];
  const farthest = Math.max(Math.abs(bottom), Math.abs(top));
  if (farthest > 85) return [-180, bottom, 180, top];
  const across = margin / Math.cos((farthest * Math.PI) / 180);
  return [west - across, bottom, east + across, top];
}

/** Whether the box around a cell overlaps a box of longitudes and latitudes, at any turn. */
export function cellMayOverlap(cell: string, box: Bbox): boolean {
  return overlap(boxOf(cell), box);
}

function overlap(cell: Bbox, [west, south, east, north]: Bbox): boolean {
  const [left, bottom, right, top] = cell;
  if (top < south || bottom > north) return false;
  const end = east < west ? east + 360 : east;
  return [-360, 0, 360, 720].some((turn) => left + turn <= end && right + turn >= west);
}
