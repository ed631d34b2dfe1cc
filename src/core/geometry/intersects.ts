/**
 * Tests whether two geometries share a point: planar in longitude and latitude, edges and vertices
 * included, as RFC 7946 reads lines. The index has compared boxes before; this test is exact.
 *
 * If no edges cross, a part lies within another part or apart from it, and then any one vertex
 * decides. So the test needs the crossings of edges and one vertex of each part.
 */
import { boxAround, overlap } from "./boxes.ts";
import type { Box } from "./boxes.ts";
import { positionAt, shapesOf } from "./geometry.ts";
import type { Position, Ring, SearchGeometry, Shapes } from "./geometry.ts";

type Polygon = readonly Ring[];

export function intersects(a: SearchGeometry, b: SearchGeometry): boolean {
  return makeIntersects(a)(b);
}

/** For testing many geometries against one. */
export function makeIntersects(asked: SearchGeometry): (other: SearchGeometry) => boolean {
  const one = shapesOf(asked);
  const edges = edgesOf(one);
  return (given) => {
    const other = shapesOf(given);
    return (
      one.points.some((point) => touchesPoint(other, point)) ||
      other.points.some((point) => touchesPoint(one, point)) ||
      firstVertices(one).some((point) => other.polygons.some((each) => holds(each, point))) ||
      firstVertices(other).some((point) => one.polygons.some((each) => holds(each, point))) ||
      anyCross(edges, edgesOf(other))
    );
  };
}

interface Edge {
  readonly from: Position;
  readonly to: Position;
  readonly box: Box;
}

function edgesOf({ lines, polygons }: Shapes): readonly Edge[] {
  return [...lines, ...polygons.flat()].flatMap((ring) =>
    ring.slice(1).map((to, index) => {
      const from = positionAt(ring, index);
      return { from, to, box: boxAround([from, to]) };
    }),
  );
}

function anyCross(some: readonly Edge[], others: readonly Edge[]): boolean {
  if (some.length === 0 || others.length === 0) return false;
  const around = boxAround(others.flatMap(({ from, to }) => [from, to]));
  const near = some.filter(({ box }) => overlap(box, around));
  return near.some((a) => others.some((b) => overlap(a.box, b.box) && cross(a, b)));
}

function firstVertices({ lines, polygons }: Shapes): readonly Position[] {
  return [...lines, ...polygons.map((rings) => rings[0] ?? [])].flatMap((ring) => ring.slice(0, 1));
}

function touchesPoint({ points, lines, polygons }: Shapes, point: Position): boolean {
  return (
    points.some((each) => each[0] === point[0] && each[1] === point[1]) ||
    lines.some((line) => onRing(line, point)) ||
    polygons.some((polygon) => holds(polygon, point))
  );
}

/** Inside or on the edge, and not within a hole. */
function holds(polygon: Polygon, point: Position): boolean {
  if (polygon.some((ring) => onRing(ring, point))) return true;
  const [outer, ...holes] = polygon;
  return outer !== undefined && winds(outer, point) && !holes.some((hole) => winds(hole, point));
}

function onRing(ring: Ring, point: Position): boolean {
  return ring.slice(1).some((to, index) => {
    const from = positionAt(ring, index);
    return turn(from, to, point) === 0 && within(from, to, point);
  });
}

/** Counts the crossings of a ray to the east; an odd number is inside. */
function winds(ring: Ring, [x = 0, y = 0]: Position): boolean {
  let inside = false;
  for (let index = 1; index < ring.length; index++) {
    const [x1 = 0, y1 = 0] = positionAt(ring, index - 1);
    const [x2 = 0, y2 = 0] = positionAt(ring, index);
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

function cross(a: Edge, b: Edge): boolean {
  const b1 = turn(a.from, a.to, b.from);
  const b2 = turn(a.from, a.to, b.to);
  const a1 = turn(b.from, b.to, a.from);
  const a2 = turn(b.from, b.to, a.to);
  if (b1 !== b2 && a1 !== a2) return true;
  return (
    (b1 === 0 && within(a.from, a.to, b.from)) ||
    (b2 === 0 && within(a.from, a.to, b.to)) ||
    (a1 === 0 && within(b.from, b.to, a.from)) ||
    (a2 === 0 && within(b.from, b.to, a.to))
  );
}

/** Which side of the line the point is on: left, on it, right. */
function turn([ax = 0, ay = 0]: Position, [bx = 0, by = 0]: Position, point: Position): number {
  const [x = 0, y = 0] = point;
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
}

function within(from: Position, to: Position, [x = 0, y = 0]: Position): boolean {
  const [west, south, east, north] = boxAround([from, to]);
  return west <= x && x <= east && south <= y && y <= north;
}
