/** Positions one after the other: x0, y0, x1, y1 … A polygon's ring ends where it began. */
export type Line = Float64Array;
/** The outer ring first, then the holes. */
export type Polygon = readonly Line[];

/**
 * A geometry of any type, taken apart by dimension. A geometry and its collection are the same here:
 * every table holds the multi type, and a collection of several dimensions becomes several rows.
 */
export interface Parts {
  readonly points: Line;
  readonly lines: readonly Line[];
  readonly polygons: readonly Polygon[];
}

export const kinds = ["point", "line", "polygon"] as const;
export type Kind = (typeof kinds)[number];

/** As the geometry types are called in WKB, GeoJSON and PostGIS alike. */
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

/** All lines and rings, and the points as one. */
export function* everyLine({ points, lines, polygons }: Parts): Generator<Line> {
  if (points.length > 0) yield points;
  yield* lines;
  for (const polygon of polygons) yield* polygon;
}

/** Only what belongs to these. */
export function keep(wanted: readonly Kind[], parts: Parts): Parts {
  return {
    points: wanted.includes("point") ? parts.points : new Float64Array(0),
    lines: wanted.includes("line") ? parts.lines : [],
    polygons: wanted.includes("polygon") ? parts.polygons : [],
  };
}

/** The number at an index that is known to be there. */
export function at(line: Line, index: number): number {
  return line[index] ?? Number.NaN;
}
