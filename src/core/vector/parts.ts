/** Positions one after the other: x0, y0, x1, y1 … The ring of a polygon ends where it began. */
export type Line = Float64Array;
/** The outer ring first, then the holes. */
export type Polygon = readonly Line[];

/**
 * A geometry of any type, split by dimension. A single geometry and a collection of one are the
 * same here: every table holds the multi type, and a collection of several dimensions becomes
 * several rows.
 */
export interface Parts {
  readonly points: Line;
  readonly lines: readonly Line[];
  readonly polygons: readonly Polygon[];
}

export const kinds = ["point", "line", "polygon"] as const;
export type Kind = (typeof kinds)[number];

/** The names that WKB, GeoJSON and PostGIS all use. */
export const multiType = {
  point: "MultiPoint",
  line: "MultiLineString",
  polygon: "MultiPolygon",
} as const satisfies Record<Kind, string>;

export function kindsOf(parts: Parts): Kind[] {
  return kinds.filter((kind) => {
    if (kind === "point") return parts.points.length > 0;
    return kind === "line" ? parts.lines.length > 0 : parts.polygons.length > 0;
  });
}

export function isEmpty(parts: Parts): boolean {
  return kindsOf(parts).length === 0;
}

/** All lines and rings, and the points as one line. */
export function* everyLine({ points, lines, polygons }: Parts): Generator<Line> {
  if (points.length > 0) yield points;
  yield* lines;
  for (const polygon of polygons) yield* polygon;
}

/** Keeps only the parts of these kinds. */
export function keep(wanted: readonly Kind[], parts: Parts): Parts {
  return {
    points: wanted.includes("point") ? parts.points : new Float64Array(0),
    lines: wanted.includes("line") ? parts.lines : [],
    polygons: wanted.includes("polygon") ? parts.polygons : [],
  };
}

/** The number at an index that is known to exist. */
export function at(line: Line, index: number): number {
  return line[index] ?? Number.NaN;
}

/** West, south, east, north. */
export type Bounds = [number, number, number, number];

/** Undefined: the geometry is empty. The order of the positions does not matter: -0 counts as 0. */
export function boundsOf(parts: Parts): Bounds | undefined {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const line of everyLine(parts)) {
    for (let index = 0; index < line.length; index += 2) {
      const x = at(line, index);
      const y = at(line, index + 1);
      if (x < west) west = x;
      if (x > east) east = x;
      if (y < south) south = y;
      if (y > north) north = y;
    }
  }
  return west <= east ? [west + 0, south + 0, east + 0, north + 0] : undefined;
}

export function unite(a: Bounds | undefined, b: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}

/** Twice the area, positive if the ring runs counter-clockwise. */
export function signedArea(ring: Line): number {
  let sum = 0;
  // Relative to the first point: far from the origin the products would lose the relevant digits.
  const [x0 = 0, y0 = 0] = ring;
  for (let index = 0; index + 3 < ring.length; index += 2) {
    const x = at(ring, index) - x0;
    const y = at(ring, index + 1) - y0;
    sum += x * (at(ring, index + 3) - y0) - (at(ring, index + 2) - x0) * y;
  }
  return sum;
}

export function reversed(line: Line): Line {
  const turned = new Float64Array(line.length);
  for (let from = 0, to = line.length - 2; from < line.length; from += 2, to -= 2) {
    turned[to] = at(line, from);
    turned[to + 1] = at(line, from + 1);
  }
  return turned;
}

/**
 * Winds rings as RFC 7946 says: outer rings counter-clockwise, holes clockwise. Returns the same
 * object if nothing changed.
 */
export function rewind(polygon: Polygon): Polygon {
  const rings = polygon.map((ring, index) => {
    const area = signedArea(ring);
    return area === 0 || area > 0 === (index === 0) ? ring : reversed(ring);
  });
  return rings.every((ring, index) => ring === polygon[index]) ? polygon : rings;
}

export function rewindAll(parts: Parts): { parts: Parts; isChanged: boolean } {
  const polygons = parts.polygons.map(rewind);
  const isChanged = polygons.some((polygon, index) => polygon !== parts.polygons[index]);
  return isChanged ? { parts: { ...parts, polygons }, isChanged } : { parts, isChanged };
}
