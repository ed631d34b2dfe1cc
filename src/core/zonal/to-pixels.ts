/**
 * Projects polygons from longitude and latitude into the pixels of a raster. An edge is a straight
 * line in longitude and latitude, as in GeoJSON, and is divided until its picture is straight too.
 * Longitudes of a ring are continuous: a ring across the antimeridian goes on beyond 180.
 */
import type { Position, Ring } from "../geometry/geometry.ts";
import type { Affine } from "../serving/affine.ts";
import { apply } from "../serving/affine.ts";
import type { Project } from "../serving/pixel-map.ts";
import { mostLatitude } from "../serving/web-mercator.ts";
import type { PixelRing } from "./cover-pixels.ts";
import { orientRing } from "./cover-pixels.ts";

export interface PixelGrid {
  readonly toPixels: Affine;
  readonly fromDegrees: Project;
  readonly isWebMercator: boolean;
  /** Longitudes that the raster covers; they may go on beyond 180. */
  readonly extent: { readonly west: number; readonly east: number; readonly isStraight: boolean };
  /** True: polygons come in a system of their own, whose coordinates are no degrees. */
  readonly isPlanar?: boolean | undefined;
}

export type Polygon = readonly Ring[];

/** How far a divided edge may be from its true picture, in pixels. */
const tolerance = 1e-4;
const mostDivisions = 12;

/** Undefined: a part of the polygon has no place in the raster's projection. */
export function toPixelRings(polygon: Polygon, grid: PixelGrid): PixelRing[] | undefined {
  const made: PixelRing[] = [];
  for (const part of placeTurns(polygon, grid)) {
    for (const [index, ring] of part.entries()) {
      const pixels = projectRing(ring, grid);
      if (pixels === undefined) return undefined;
      if (pixels.length >= 6) made.push(orientRing(pixels, index > 0));
    }
  }
  return made;
}

/** The polygon at the turns of the globe at which the raster shows it. */
function placeTurns(polygon: Polygon, { extent, isWebMercator, isPlanar }: PixelGrid): Polygon[] {
  if (isPlanar === true) return [polygon];
  const [outer = []] = polygon;
  const west = Math.min(...outer.map(([lon = 0]) => lon));
  const east = Math.max(...outer.map(([lon = 0]) => lon));
  const inside = isWebMercator ? clipLatitudes(polygon) : polygon;
  if (!extent.isStraight) {
    if (west >= -180 && east <= 180) return [inside];
    // Most projections begin and end at one meridian: each side of it is projected alone.
    return [-360, 0, 360].flatMap((turn) => {
      const cut = inside.map((ring) => clip(clip(shift(ring, turn), 0, -180, 1), 0, 180, -1));
      return (cut[0]?.length ?? 0) < 3 ? [] : [cut];
    });
  }
  const first = Math.ceil((extent.west - east) / 360);
  const last = Math.floor((extent.east - west) / 360);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    inside.map((ring) => shift(ring, 360 * (first + index))),
  );
}

function shift(ring: Ring, turn: number): Ring {
  return turn === 0 ? ring : ring.map(([lon = 0, lat = 0]) => [lon + turn, lat]);
}

/** Web Mercator ends before the poles. */
function clipLatitudes(polygon: Polygon): Polygon {
  const isInside = polygon.every((ring) =>
    ring.every(([, lat = 0]) => Math.abs(lat) <= mostLatitude),
  );
  if (isInside) return polygon;
  return polygon.map((ring) => clip(clip(ring, 1, -mostLatitude, 1), 1, mostLatitude, -1));
}

/** Keeps the part of a ring with `sign * coordinate >= sign * limit`. */
function clip(ring: Ring, axis: 0 | 1, limit: number, sign: 1 | -1): Ring {
  const made: Position[] = [];
  for (const [index, to] of ring.entries()) {
    const from = ring.at(index - 1) ?? to;
    const [a, b] = [sign * ((from[axis] ?? 0) - limit), sign * ((to[axis] ?? 0) - limit)];
    if (a < 0 !== b < 0) {
      const share = a / (a - b);
      const other = axis === 0 ? 1 : 0;
      const crossing = (from[other] ?? 0) + share * ((to[other] ?? 0) - (from[other] ?? 0));
      made.push(axis === 0 ? [limit, crossing] : [crossing, limit]);
    }
    if (b >= 0) made.push(to);
  }
  return made;
}

type Point = readonly [number, number];

function projectRing(ring: Ring, { toPixels, fromDegrees }: PixelGrid): PixelRing | undefined {
  const project = (lon: number, lat: number): Point | undefined => {
    const found = fromDegrees(lon, lat);
    return found && apply(toPixels, found[0], found[1]);
  };
  const made: number[] = [];
  /** An edge that bends both ways may cross its chord in the middle. */
  const isBentTwice = (from: Position, start: Point, to: Position, end: Point): boolean => {
    const lon = (from[0] ?? 0) + ((to[0] ?? 0) - (from[0] ?? 0)) / 4;
    const lat = (from[1] ?? 0) + ((to[1] ?? 0) - (from[1] ?? 0)) / 4;
    const found = project(lon, lat);
    return found !== undefined && offChord(found, start, end, 0.25) >= tolerance;
  };
  /** Adds the points between two, without the ends; false: one of them has no place. */
  const divide = (
    from: Position,
    start: Point,
    to: Position,
    end: Point,
    depth: number,
  ): boolean => {
    const middle = [
      ((from[0] ?? 0) + (to[0] ?? 0)) / 2,
      ((from[1] ?? 0) + (to[1] ?? 0)) / 2,
    ] as const;
    const found = project(middle[0], middle[1]);
    if (found === undefined) return false;
    const isStraight =
      offChord(found, start, end, 0.5) < tolerance &&
      (depth > 0 || !isBentTwice(from, start, to, end));
    if (isStraight || depth >= mostDivisions) return true;
    if (!divide(from, start, middle, found, depth + 1)) return false;
    made.push(found[0], found[1]);
    return divide(middle, found, to, end, depth + 1);
  };
  let last: { readonly place: Position; readonly point: Point } | undefined;
  const closed = isClosed(ring) ? ring : [...ring, ...ring.slice(0, 1)];
  for (const place of closed) {
    const point = project(place[0] ?? NaN, place[1] ?? NaN);
    if (point === undefined) return undefined;
    if (last !== undefined && !divide(last.place, last.point, place, point, 0)) return undefined;
    made.push(point[0], point[1]);
    last = { place, point };
  }
  return Float64Array.from(made);
}

function offChord(found: Point, start: Point, end: Point, share: number): number {
  const x = start[0] + share * (end[0] - start[0]);
  const y = start[1] + share * (end[1] - start[1]);
  return Math.abs(found[0] - x) + Math.abs(found[1] - y);
}

function isClosed(ring: Ring): boolean {
  const [first, last] = [ring[0], ring.at(-1)];
  return ring.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
}
