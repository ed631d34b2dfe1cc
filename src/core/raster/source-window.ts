/** Finds the part of a source that a part of its warp needs. */
import type { Transform } from "./facts.ts";
import { place } from "./inspected.ts";
import type { RasterTile } from "./tiling.ts";

type Point = readonly [number, number];
export type PixelWindow = RasterTile["window"];

/** Points along a side of the window: between two of them a projection is almost straight. */
const steps = 20;
/** Pixels that the widest resampling kernel reads around a point, at the scale of the source. */
const kernelRadius = 4;
const spare = 16;

/** Points all over a window, in the coordinates of the warp. */
export function spreadPoints(
  transform: Transform,
  [left, top, width, height]: PixelWindow,
): Point[] {
  const points: Point[] = [];
  for (let row = 0; row <= steps; row++) {
    for (let column = 0; column <= steps; column++) {
      points.push(place(transform, left + (width * column) / steps, top + (height * row) / steps));
    }
  }
  return points;
}

export interface SourceGrid {
  readonly width: number;
  readonly height: number;
  readonly transform: Transform;
  readonly isGeographic: boolean;
}

/**
 * The window of the source around points in its coordinates, with room for resampling. Undefined:
 * it is unknown, and the whole source is needed.
 */
export function windowAround(
  points: readonly Point[],
  source: SourceGrid,
  target: PixelWindow,
): PixelWindow | undefined {
  const inverse = invert(source.transform);
  if (inverse === undefined) return undefined;
  const [middle] = place(source.transform, source.width / 2, source.height / 2);
  const pixels = points.map(([x, y]) =>
    place(inverse, source.isGeographic ? nearest(x, middle) : x, y),
  );
  if (!pixels.flat().every(Number.isFinite)) return undefined;
  const columns = pixels.map(([column]) => column);
  const rows = pixels.map(([, row]) => row);
  const [left, right] = widen(Math.min(...columns), Math.max(...columns), target[2], source.width);
  const [top, bottom] = widen(Math.min(...rows), Math.max(...rows), target[3], source.height);
  // A point at the edge of a projection may come back on its other side.
  if (source.isGeographic && right - left > source.width / 2) return undefined;
  return [left, top, right - left, bottom - top];
}

/** Adds room on both sides, within the source; at least one pixel is left. */
function widen(from: number, to: number, targetSize: number, size: number): [number, number] {
  const ratio = Math.max(1, (to - from) / targetSize);
  const room = Math.ceil(kernelRadius * ratio + spare + 0.05 * (to - from));
  const start = Math.min(size - 1, Math.max(0, Math.floor(from) - room));
  return [start, Math.max(start + 1, Math.min(size, Math.ceil(to) + room))];
}

/** The same longitude as near as possible to the middle of the source. */
function nearest(longitude: number, middle: number): number {
  return longitude - 360 * Math.round((longitude - middle) / 360);
}

function invert([a, b, c, d, e, f]: Transform): Transform | undefined {
  const determinant = a * e - b * d;
  if (determinant === 0 || !Number.isFinite(determinant)) return undefined;
  const [ia, ib] = [e / determinant, -b / determinant];
  const [id, ie] = [-d / determinant, a / determinant];
  return [ia, ib, -(ia * c + ib * f), id, ie, -(id * c + ie * f)];
}
