/**
 * Proves that a geometry is valid as GEOS defines it, for the many geometries where a proof is
 * cheap: rings that nowhere touch themselves or each other, and lie in one another as they should.
 * What is not proven may still be valid; GEOS then decides.
 */
import type { Line, Parts } from "./parts.ts";
import { at } from "./parts.ts";

export function isProvenValid({ lines, polygons }: Parts): boolean {
  if (!lines.every(hasLength)) return false;
  if (polygons.length === 0) return true;
  const rings: Ring[] = [];
  for (const [index, polygon] of polygons.entries()) {
    for (const [number, line] of polygon.entries()) {
      const ring = makeRing(line, index, number);
      if (ring === undefined) return false;
      rings.push(ring);
    }
  }
  return !haveContact(rings) && liesRight(rings);
}

/** Rings of fewer edges are proven without allocating anything. */
const shortRing = 48;

/** The same for one ring, the first `count` positions of `line`. */
export function isProvenRing(line: Line, count: number): boolean {
  const edges = count - 1;
  if (at(line, 0) !== at(line, 2 * edges) || at(line, 1) !== at(line, 2 * edges + 1)) return false;
  if (edges > shortRing) {
    const ring = line.slice(0, 2 * count);
    return isProvenValid({ points: new Float64Array(0), lines: [], polygons: [[ring]] });
  }
  for (let a = 0; a < edges; a++) {
    const ax1 = at(line, 2 * a);
    const ay1 = at(line, 2 * a + 1);
    const ax2 = at(line, 2 * a + 2);
    const ay2 = at(line, 2 * a + 3);
    // A repeated position makes an edge without a direction.
    if (ax1 === ax2 && ay1 === ay2) return false;
    const west = ax1 < ax2 ? ax1 : ax2;
    const east = ax1 < ax2 ? ax2 : ax1;
    const south = ay1 < ay2 ? ay1 : ay2;
    const north = ay1 < ay2 ? ay2 : ay1;
    for (let b = a + 1; b < edges; b++) {
      const bx1 = at(line, 2 * b);
      const by1 = at(line, 2 * b + 1);
      const bx2 = at(line, 2 * b + 2);
      const by2 = at(line, 2 * b + 3);
      if ((bx1 < west && bx2 < west) || (bx1 > east && bx2 > east)) continue;
      if ((by1 < south && by2 < south) || (by1 > north && by2 > north)) continue;
      if (b === a + 1) {
        if (foldsBack(ax1, ay1, ax2, ay2, bx2, by2)) return false;
      } else if (a === 0 && b === edges - 1) {
        if (foldsBack(bx1, by1, bx2, by2, ax2, ay2)) return false;
      } else if (mayMeet(ax1, ay1, ax2, ay2, bx1, by1, bx2, by2)) return false;
    }
  }
  return true;
}

interface Ring {
  readonly polygon: number;
  /** 0 is the outer ring. */
  readonly number: number;
  /** Without repeated positions; the last position is the first. */
  readonly line: Line;
  readonly box: readonly [west: number, south: number, east: number, north: number];
}

function hasLength(line: Line): boolean {
  for (let index = 2; index < line.length; index += 2) {
    if (at(line, index) !== at(line, 0) || at(line, index + 1) !== at(line, 1)) return true;
  }
  return false;
}

/** Undefined: it is not closed, or has fewer than three different positions. */
function makeRing(given: Line, polygon: number, number: number): Ring | undefined {
  const line = withoutRepeats(given);
  const end = line.length - 2;
  if (line.length < 8 || line[0] !== line[end] || line[1] !== line[end + 1]) return undefined;
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index < end; index += 2) {
    const x = at(line, index);
    const y = at(line, index + 1);
    if (x < west) west = x;
    if (x > east) east = x;
    if (y < south) south = y;
    if (y > north) north = y;
  }
  return { polygon, number, line, box: [west, south, east, north] };
}

function withoutRepeats(line: Line): Line {
  let repeats = 0;
  for (let index = 2; index < line.length; index += 2) {
    if (line[index] === line[index - 2] && line[index + 1] === line[index - 1]) repeats += 1;
  }
  if (repeats === 0) return line;
  const kept = new Float64Array(line.length - 2 * repeats);
  let to = 0;
  for (let index = 0; index < line.length; index += 2) {
    const isRepeat =
      index > 0 && line[index] === line[index - 2] && line[index + 1] === line[index - 1];
    if (isRepeat) continue;
    kept[to] = at(line, index);
    kept[to + 1] = at(line, index + 1);
    to += 2;
  }
  return kept;
}

/** Few edges are compared each with each: sorting them would cost more. */
const fewEdges = 16;

/** Whether any two edges meet other than at the vertex between neighbours. */
function haveContact(rings: readonly Ring[]): boolean {
  const edges = edgesOf(rings);
  const { count, x1, x2 } = edges;
  const order = new Uint32Array(count);
  for (let index = 0; index < count; index++) order[index] = index;
  const west = (edge: number) => Math.min(at(x1, edge), at(x2, edge));
  const isSorted = count > fewEdges;
  if (isSorted) order.sort((a, b) => west(a) - west(b));
  for (let i = 0; i < count; i++) {
    const a = order[i] ?? 0;
    const east = Math.max(at(x1, a), at(x2, a));
    for (let j = i + 1; j < count; j++) {
      const b = order[j] ?? 0;
      if (west(b) <= east) {
        if (meets(edges, rings, a, b)) return true;
      } else if (isSorted) break;
    }
  }
  return false;
}

type Edges = ReturnType<typeof edgesOf>;

function meets(
  { x1, y1, x2, y2, ring, place }: Edges,
  rings: readonly Ring[],
  a: number,
  b: number,
) {
  const ax1 = at(x1, a);
  const ay1 = at(y1, a);
  const ax2 = at(x2, a);
  const ay2 = at(y2, a);
  const bx1 = at(x1, b);
  const by1 = at(y1, b);
  const bx2 = at(x2, b);
  const by2 = at(y2, b);
  if (Math.max(bx1, bx2) < Math.min(ax1, ax2)) return false;
  if (Math.min(by1, by2) > Math.max(ay1, ay2) || Math.max(by1, by2) < Math.min(ay1, ay2))
    return false;
  const number = ring[a] ?? 0;
  if (number === ring[b]) {
    const count = (rings[number]?.line.length ?? 0) / 2 - 1;
    const step = ((place[b] ?? 0) - (place[a] ?? 0) + count) % count;
    if (step === 1) return foldsBack(ax1, ay1, ax2, ay2, bx2, by2);
    if (step === count - 1) return foldsBack(bx1, by1, bx2, by2, ax2, ay2);
  }
  return mayMeet(ax1, ay1, ax2, ay2, bx1, by1, bx2, by2);
}

function edgesOf(rings: readonly Ring[]) {
  const count = rings.reduce((sum, { line }) => sum + line.length / 2 - 1, 0);
  const edges = {
    count,
    x1: new Float64Array(count),
    y1: new Float64Array(count),
    x2: new Float64Array(count),
    y2: new Float64Array(count),
    ring: new Uint32Array(count),
    place: new Uint32Array(count),
  };
  let edge = 0;
  for (const [number, { line }] of rings.entries()) {
    for (let index = 0; index + 3 < line.length; index += 2, edge++) {
      edges.x1[edge] = at(line, index);
      edges.y1[edge] = at(line, index + 1);
      edges.x2[edge] = at(line, index + 2);
      edges.y2[edge] = at(line, index + 3);
      edges.ring[edge] = number;
      edges.place[edge] = index / 2;
    }
  }
  return edges;
}

/** The error bound of a determinant of two by two in doubles (Shewchuk's, made larger). */
const doubt = 1e-15;

/** 1: left, -1: right, 0: on the line, or too near to it for doubles to tell. */
function sideOf(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  px: number,
  py: number,
): -1 | 0 | 1 {
  const left = (ax - px) * (by - py);
  const right = (ay - py) * (bx - px);
  const area = left - right;
  if (Math.abs(area) <= doubt * (Math.abs(left) + Math.abs(right))) return 0;
  return area > 0 ? 1 : -1;
}

/** Whether the edge from b to c may run back over the edge from a to b. */
function foldsBack(ax: number, ay: number, bx: number, by: number, cx: number, cy: number) {
  if (sideOf(ax, ay, bx, by, cx, cy) !== 0) return false;
  return (ax - bx) * (cx - bx) + (ay - by) * (cy - by) >= 0;
}

function mayMeet(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): boolean {
  const c = sideOf(ax, ay, bx, by, cx, cy);
  const d = sideOf(ax, ay, bx, by, dx, dy);
  if (c !== 0 && c === d) return false;
  const a = sideOf(cx, cy, dx, dy, ax, ay);
  const b = sideOf(cx, cy, dx, dy, bx, by);
  return !(a !== 0 && a === b);
}

/** Whether rings without contact form valid polygons: holes inside, and nothing inside of holes. */
function liesRight(rings: readonly Ring[]): boolean {
  if (rings.length === 1) return true;
  for (const ring of rings) {
    for (const other of rings) {
      if (ring === other) continue;
      const isOwnOuter = ring.number > 0 && other.number === 0 && ring.polygon === other.polygon;
      const isInside = boxInside(ring, other) && pointInside(ring.line, other.line);
      if (isInside !== isOwnOuter) return false;
    }
  }
  return true;
}

function boxInside({ box: a }: Ring, { box: b }: Ring): boolean {
  return a[0] >= b[0] && a[1] >= b[1] && a[2] <= b[2] && a[3] <= b[3];
}

/** Tests the first position, because rings without contact lie inside or outside as a whole. */
function pointInside(line: Line, ring: Line): boolean {
  const [x = 0, y = 0] = line;
  let isInside = false;
  for (let index = 0; index + 3 < ring.length; index += 2) {
    const [ax, ay] = [at(ring, index), at(ring, index + 1)];
    const [bx, by] = [at(ring, index + 2), at(ring, index + 3)];
    if (ay > y === by > y) continue;
    const side = sideOf(ax, ay, bx, by, x, y);
    if (by > ay ? side > 0 : side < 0) isInside = !isInside;
  }
  return isInside;
}
