import type { Bbox, Position, SearchGeometry, SimpleGeometry } from "./geometry.ts";
import { shapesOf } from "./geometry.ts";

/** A box whose west is never greater than its east, as an index can hold it. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** One box, or two if the antimeridian cuts it. */
export function boxesOf(bbox: Bbox): readonly [Box] | readonly [Box, Box] {
  const [west, south, east, north] = bbox;
  if (west <= east) return [[west, south, east, north]];
  return [
    [west, south, 180, north],
    [-180, south, east, north],
  ];
}

/** The index is searched once for each box, so more parts share one box. */
const mostBoxes = 8;

/** Boxes that together contain the geometry: one for each part, or a single box for many parts. */
export function boxesAround(geometry: SearchGeometry): readonly Box[] {
  const { points, lines, polygons } = shapesOf(geometry);
  const parts = [
    ...points.map((point) => [point]),
    ...lines,
    ...polygons.map((rings) => rings[0] ?? []),
  ];
  if (parts.length <= mostBoxes) return parts.map(boxAround);
  return [boxAround(parts.flat())];
}

export function boxAround(positions: readonly Position[]): Box {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x = 0, y = 0] of positions) {
    west = Math.min(west, x);
    south = Math.min(south, y);
    east = Math.max(east, x);
    north = Math.max(north, y);
  }
  return [west, south, east, north];
}

export function overlap(a: Box, b: Box): boolean {
  return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
}

/**
 * The bounds of a geometry as in GeoJSON: parts on both sides of the antimeridian make them cross
 * it.
 */
export function bboxOf(geometry: SearchGeometry): Bbox {
  const { points, lines, polygons } = shapesOf(geometry);
  const parts = [
    ...points.map((point) => [point]),
    ...lines,
    ...polygons.map((each) => each[0] ?? []),
  ];
  const boxes = parts.map(boxAround);
  const whole = boxAround(
    boxes.flatMap(([w, s, e, n]) => [
      [w, s],
      [e, n],
    ]),
  );
  const touching = boxes.filter(([west, , east]) => west <= -180 || east >= 180);
  const [west, south, east, north] = whole;
  if (west > -180 || east < 180 || touching.length < 2 || boxes.some(straddles)) return whole;
  const fromWest = Math.min(...boxes.filter((box) => box[0] >= 0).map((box) => box[0]));
  const toEast = Math.max(...boxes.filter((box) => box[0] < 0).map((box) => box[2]));
  return fromWest > toEast ? [fromWest, south, toEast, north] : [west, south, east, north];
}

function straddles([west, , east]: Box): boolean {
  return west < 0 && east > 0;
}

/** The bounds as a geometry: two rectangles if they cross the antimeridian. */
export function rectangle([west, south, east, north]: Bbox): SimpleGeometry {
  const ring = (w: number, e: number) => [
    [w, south],
    [e, south],
    [e, north],
    [w, north],
    [w, south],
  ];
  if (west <= east) return { type: "Polygon", coordinates: [ring(west, east)] };
  return { type: "MultiPolygon", coordinates: [[ring(west, 180)], [ring(-180, east)]] };
}
