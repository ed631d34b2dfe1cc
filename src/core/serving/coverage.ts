/**
 * The part of the world that a raster covers. Longitudes continue beyond 180 where it crosses the
 * antimeridian, and start where the raster starts (some count from 0 to 360), so west < east always
 * holds here. Only answers to clients are folded to ±180.
 */
import type { Affine } from "./affine.ts";
import { apply } from "./affine.ts";
import type { Bounds } from "./layer.ts";
import type { Project } from "./pixel-map.ts";
import type { Box } from "./web-mercator.ts";
import { halfWorld, mostLatitude, toMercator } from "./web-mercator.ts";

export interface Extent {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
  /** The edges are meridians and parallels, so the raster does not bulge over them. */
  readonly isStraight: boolean;
}

const pointsASide = 21;
const tiny = 1e-6;
const turns = [0, 1, -1];

/** Undefined: no point of the edge has a place on the globe. */
export function findExtent(raster: {
  readonly width: number;
  readonly height: number;
  readonly toCoordinates: Affine;
  readonly toPixels: Affine;
  readonly toDegrees: Project;
  readonly fromDegrees: Project;
  readonly isStraight: boolean;
}): Extent | undefined {
  const { width, height, toCoordinates } = raster;
  const points: (readonly [number, number])[] = [];
  let last: number | undefined;
  const placeOf = (column: number, row: number) =>
    raster.toDegrees(...apply(toCoordinates, column, row));
  const edges = [...edge(width, height)];
  // The corners of a picture of the globe show space: its extent follows from its inner points.
  const isWhole = edges.every(([column, row]) => placeOf(column, row) !== undefined);
  for (const [column, row] of isWhole ? edges : lattice(width, height)) {
    const found = placeOf(column, row);
    if (found === undefined) continue;
    const [lon, lat] = found;
    const near = last === undefined ? lon : lon + 360 * Math.round((last - lon) / 360);
    // Along the edge from point to point; points all over the raster from its middle.
    if (isWhole || last === undefined) last = near;
    points.push([near, lat]);
  }
  if (points.length === 0) return undefined;
  let west = Math.min(...points.map(([lon]) => lon));
  let east = Math.max(...points.map(([lon]) => lon));
  let south = Math.min(...points.map(([, lat]) => lat));
  let north = Math.max(...points.map(([, lat]) => lat));
  if (raster.isStraight) {
    // Pixels with their centres at a pole reach half a pixel beyond it.
    [south, north] = [Math.max(-90, south), Math.min(90, north)];
    return { west, south, east, north, isStraight: true };
  }
  // The edge of a raster that contains a pole goes around it without touching it.
  for (const pole of [90, -90]) {
    if (!contains(raster, pole)) continue;
    [west, east] = [-180, 180];
    if (pole > 0) north = 90;
    else south = -90;
  }
  return { west, south, east, north, isStraight: raster.isStraight };
}

/** Points all over the raster, from the middle outwards in each row, so that longitudes are near. */
function lattice(width: number, height: number): (readonly [number, number])[] {
  const side = 2 * pointsASide;
  const order = Array.from({ length: side + 1 }, (_, index) => index);
  const middle = order.toSorted((a, b) => Math.abs(a - side / 2) - Math.abs(b - side / 2));
  return middle.flatMap((row) =>
    middle.map((column) => [(column / side) * width, (row / side) * height] as const),
  );
}

function contains(raster: Parameters<typeof findExtent>[0], pole: number): boolean {
  const place = raster.fromDegrees(0, pole);
  if (place === undefined) return false;
  const [column, row] = apply(raster.toPixels, place[0], place[1]);
  return column > 0 && column < raster.width && row > 0 && row < raster.height;
}

function* edge(width: number, height: number): Generator<readonly [number, number]> {
  const share = (index: number) => index / (pointsASide - 1);
  for (let i = 0; i < pointsASide; i++) yield [share(i) * width, 0];
  for (let i = 1; i < pointsASide; i++) yield [width, share(i) * height];
  for (let i = 1; i < pointsASide; i++) yield [(1 - share(i)) * width, height];
  for (let i = 1; i < pointsASide - 1; i++) yield [0, (1 - share(i)) * height];
}

export function toBounds({ west, south, east, north }: Extent): Bounds {
  // A raster of the whole world may miss its bounds by a rounding error, on either side.
  if (east - west >= 360 - tiny) return [-180, south, 180, north];
  const turn = 360 * Math.floor((west + 180 + tiny) / 360);
  const [from, to] = [west - turn, east - turn];
  return [from, south, to > 180 + tiny ? to - 360 : to, north];
}

/** The longitude as the raster counts it; undefined: outside of the raster. */
export function toOwnLongitude({ west, east }: Extent, longitude: number): number | undefined {
  return turns
    .map((turn) => longitude + 360 * turn)
    .find((each) => each >= west - tiny && each <= east + tiny);
}

/**
 * The parts of a web-mercator box that the raster covers, each with the shift by whole turns of the
 * globe.
 */
export function coveredParts(
  box: Box,
  { west, south, east, north, isStraight }: Extent,
): { box: Box; shift: number }[] {
  const [left, bottom] = toMercator(west, south);
  const [right, top] = toMercator(east, north);
  // A straight edge in another system is a curve here and may bulge over its sampled points.
  const margin = isStraight ? 0 : 0.005 * Math.max(right - left, top - bottom);
  const upper = Math.min(box[3], north >= mostLatitude ? halfWorld : top + margin);
  const lower = Math.max(box[1], south <= -mostLatitude ? -halfWorld : bottom - margin);
  return turns.flatMap((turn) => {
    const shift = 2 * halfWorld * turn;
    const from = Math.max(box[0], left - margin - shift);
    const to = Math.min(box[2], right + margin - shift);
    return from < to && lower < upper ? [{ box: [from, lower, to, upper] as const, shift }] : [];
  });
}
