/**
 * The footprint of a raster as STAC defines it: a ring in WGS 84. Straight edges in the raster's
 * own coordinates are curves there, so each side is sampled in steps. The handler lets GDAL
 * transform the points; everything else is done here.
 */
import type { Transform } from "../raster/facts.ts";
import { place } from "../raster/inspected.ts";
import { positionAt } from "../geometry/geometry.ts";
import type { Transformation } from "../raster/transformation.ts";
import type { DatumShift } from "../raster/proj-definition.ts";
import type { Bbox, Position, Ring, SimpleGeometry } from "../geometry/geometry.ts";

export interface Footprint {
  readonly geometry: SimpleGeometry;
  readonly bbox: Bbox;
  /** From the datum of the raster's own system to WGS 84, in geocentric metres. */
  readonly datum_shift?: DatumShift | null;
  /** The operation by which it was transformed from the raster's own system. */
  readonly transformation?: Transformation | undefined;
}

/** Steps of a side: GDAL itself uses 21 points for the bounds of a warped raster. */
const steps = 20;

/** The points along the four sides in the raster's own coordinates, without repeating the first. */
export function walkEdges(transform: Transform, width: number, height: number): Position[] {
  const corners = [
    [0, 0],
    [0, height],
    [width, height],
    [width, 0],
  ] as const;
  return corners.flatMap(([column, row], index) => {
    const [nextColumn = 0, nextRow = 0] = corners[(index + 1) % 4] ?? [];
    return Array.from({ length: steps }, (_, step) => {
      const c = column + ((nextColumn - column) * step) / steps;
      const r = row + ((nextRow - row) * step) / steps;
      return place(transform, c, r);
    });
  });
}

/**
 * Makes the footprint from the sampled edges in longitude and latitude; undefined if a point has no
 * place there.
 */
export function footprintOf(walked: readonly Position[]): Footprint | undefined {
  if (walked.length !== 4 * steps || !walked.every(isPlace)) return undefined;
  return toFootprint(centre(closeOverPole(unroll(walked))));
}

function toFootprint(ring: readonly Position[]): Footprint {
  const longitudes = ring.map(([x = 0]) => x);
  const west = Math.min(...longitudes);
  const east = Math.max(...longitudes);
  const latitudes = ring.map(([, y = 0]) => y);
  const south = round(Math.min(...latitudes));
  const north = round(Math.max(...latitudes));
  // The part beyond ±180° is shown on the other side.
  const parts = [0, -360, 360]
    .map((turn) => finish(clip(clip(shift(ring, turn), -180, 1), 180, -1)))
    .filter((part) => part.length > 3);
  const geometry: SimpleGeometry =
    parts.length === 1
      ? { type: "Polygon", coordinates: parts }
      : { type: "MultiPolygon", coordinates: parts.map((part) => [part]) };
  if (east - west > 360 - 1e-6) return { geometry, bbox: [-180, south, 180, north] };
  return { geometry, bbox: [round(onMap(west)), south, round(onMap(east)), north] };
}

/** Points a side of the lattice over a raster whose edges are not all on the globe. */
const latticeSide = 40;

/** Points all over the raster, in its own coordinates. */
export function walkLattice(transform: Transform, width: number, height: number): Position[] {
  return Array.from({ length: (latticeSide + 1) ** 2 }, (_, index) => {
    const column = (width * (index % (latticeSide + 1))) / latticeSide;
    const row = (height * Math.floor(index / (latticeSide + 1))) / latticeSide;
    return place(transform, column, row);
  });
}

/**
 * Makes the footprint from points all over the raster, for a picture of the globe whose corners show
 * space: the hull of those that have a place. Undefined if none has.
 */
export function hullOf(points: readonly Position[]): Footprint | undefined {
  const places = points.filter(isPlace).map(([x = 0, y = 0]): [number, number] => [x, y]);
  // Longitudes are counted from the middle, which a globe seen from space has near 0 or 180.
  const middle = middleOf(places.map(([x]) => x));
  const unrolled = places.map(([x, y]): [number, number] => [
    x - 360 * Math.round((x - middle) / 360),
    y,
  ]);
  const hull = convexHull(unrolled);
  return hull.length < 3 ? undefined : toFootprint(centre(hull));
}

function middleOf(longitudes: readonly number[]): number {
  const radians = longitudes.map((x) => (x * Math.PI) / 180);
  const east = radians.reduce((sum, x) => sum + Math.sin(x), 0);
  const north = radians.reduce((sum, x) => sum + Math.cos(x), 0);
  return (Math.atan2(east, north) * 180) / Math.PI;
}

/** The smallest convex ring around the points (Andrew's monotone chain). */
function convexHull(points: readonly (readonly [number, number])[]): Position[] {
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (given: readonly (readonly [number, number])[]) => {
    const chain: (readonly [number, number])[] = [];
    for (const point of given) {
      while (chain.length > 1 && !turnsLeft(chain.at(-2), chain.at(-1), point)) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())].map(([x, y]) => [x, y]);
}

function turnsLeft(
  [ax, ay]: readonly [number, number] = [0, 0],
  [bx, by]: readonly [number, number] = [0, 0],
  [cx, cy]: readonly [number, number],
): boolean {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0;
}

function onMap(longitude: number): number {
  if (longitude < -180 - 1e-9) return longitude + 360;
  return longitude > 180 + 1e-9 ? longitude - 360 : longitude;
}

function isPlace(position: Position): boolean {
  const [x, y = NaN] = position;
  return Number.isFinite(x) && Math.abs(y) <= 90 + 1e-9;
}

/** Removes jumps of longitude: two neighbours are never half a world apart. */
function unroll(points: readonly Position[]): Position[] {
  let [before = 0] = positionAt(points, 0);
  return points.map(([x = 0, y = 0]) => {
    before = x - 360 * Math.round((x - before) / 360);
    return [before, Math.max(-90, Math.min(90, y))];
  });
}

/** A ring that goes round the world contains a pole, so it is closed along that pole. */
function closeOverPole(points: readonly Position[]): Position[] {
  const [x = 0, y = 0] = positionAt(points, 0);
  const [last = 0] = positionAt(points, -1);
  // The longitude at which the walk would return to its first point without a jump.
  const closing = x - 360 * Math.round((x - last) / 360);
  if (Math.abs(closing - x) < 180) return simplify(points);
  const mean = points.reduce((sum, point) => sum + (point[1] ?? 0), 0) / points.length;
  const pole = mean < 0 ? -90 : 90;
  return [...points, [closing, y], [closing, pole], [x, pole]];
}

/**
 * Points nearer to the chord than this share of the whole are dropped: straight sides need no
 * steps.
 */
const tolerance = 1e-4;

function simplify(points: readonly Position[]): Position[] {
  const longitudes = points.map(([x = 0]) => x);
  const latitudes = points.map(([, y = 0]) => y);
  const extent = Math.max(
    Math.max(...longitudes) - Math.min(...longitudes),
    Math.max(...latitudes) - Math.min(...latitudes),
  );
  const closed = [...points, positionAt(points, 0)];
  return [0, 1, 2, 3].flatMap((side) => {
    const part = closed.slice(side * steps, (side + 1) * steps + 1);
    return thin(part, extent * tolerance).slice(0, -1);
  });
}

/** Simplifies a line (Douglas and Peucker). */
function thin(points: readonly Position[], within: number): readonly Position[] {
  const [first, last] = [positionAt(points, 0), positionAt(points, -1)];
  let farthest = 0;
  let at = 0;
  for (let index = 1; index < points.length - 1; index++) {
    const away = distance(positionAt(points, index), first, last);
    if (away > farthest) [farthest, at] = [away, index];
  }
  if (farthest <= within) return [first, last];
  return [...thin(points.slice(0, at + 1), within), ...thin(points.slice(at), within).slice(1)];
}

function distance([x = 0, y = 0]: Position, from: Position, to: Position): number {
  const [ax = 0, ay = 0] = from;
  const [bx = 0, by = 0] = to;
  const length = Math.hypot(bx - ax, by - ay);
  if (length === 0) return Math.hypot(x - ax, y - ay);
  return Math.abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length;
}

/** Shifts the ring so that its middle is on the map, and it exceeds at most one side. */
function centre(ring: readonly Position[]): Position[] {
  const longitudes = ring.map(([x = 0]) => x);
  const middle = (Math.min(...longitudes) + Math.max(...longitudes)) / 2;
  return shift(ring, -360 * Math.ceil((middle - 180) / 360));
}

function shift(ring: readonly Position[], by: number): Position[] {
  return ring.map(([x = 0, y = 0]) => [x + by, y]);
}

/** Clips a ring at a meridian (Sutherland and Hodgman): 1 keeps the east, -1 the west. */
function clip(ring: readonly Position[], meridian: number, keep: 1 | -1): Position[] {
  const inside = ([x = 0]: Position) => (x - meridian) * keep >= 0;
  return ring.flatMap((point, index) => {
    const before = positionAt(ring, index - 1);
    const crossing = inside(before) === inside(point) ? [] : [cutAt(before, point, meridian)];
    return inside(point) ? [...crossing, point] : crossing;
  });
}

function cutAt([ax = 0, ay = 0]: Position, [bx = 0, by = 0]: Position, meridian: number): Position {
  return [meridian, ay + ((by - ay) * (meridian - ax)) / (bx - ax)];
}

/**
 * Closes the ring, rounds it to a centimetre and turns it counter-clockwise (RFC 7946). Empty if
 * nothing is left.
 */
function finish(ring: Ring): number[][] {
  const rounded = ring.map(([x = 0, y = 0]) => [round(x), round(y)]);
  const distinct = rounded.filter(([x, y], index) => {
    const before = positionAt(rounded, index - 1);
    return before[0] !== x || before[1] !== y;
  });
  if (distinct.length < 3) return [];
  const turned = area(distinct) < 0 ? distinct.toReversed() : distinct;
  return [...turned, ...turned.slice(0, 1)];
}

function area(ring: Ring): number {
  return ring.reduce((sum, [x = 0, y = 0], index) => {
    const [px = 0, py = 0] = positionAt(ring, index - 1);
    return sum + (px * y - x * py);
  }, 0);
}

function round(value: number): number {
  // Never -0: JSON writes it as 0, which would compare unequal after a round trip.
  return Math.round(value * 1e7) / 1e7 + 0;
}
