import { z } from "zod";
import type { Kind, Line, Parts } from "./parts.ts";
import { kindsOf, multiType } from "./parts.ts";

type Position = [number, number];

export interface MultiGeometry {
  readonly type: (typeof multiType)[Kind];
  readonly coordinates: Position[] | Position[][] | Position[][][];
}

export interface Collection {
  readonly type: "GeometryCollection";
  readonly geometries: MultiGeometry[];
}

/** Makes a multi geometry, or a collection of them if there are several kinds. */
export function toGeoJson(parts: Parts): MultiGeometry | Collection {
  const geometries = kindsOf(parts).map((kind) => ({
    type: multiType[kind],
    coordinates: coordinatesOf(kind, parts),
  }));
  const [only] = geometries;
  return only !== undefined && geometries.length === 1
    ? only
    : { type: "GeometryCollection", geometries };
}

function coordinatesOf(kind: Kind, parts: Parts): MultiGeometry["coordinates"] {
  if (kind === "point") return positions(parts.points);
  if (kind === "line") return parts.lines.map(positions);
  return parts.polygons.map((polygon) => polygon.map(positions));
}

function positions(line: Line): Position[] {
  const list: Position[] = [];
  for (let index = 0; index + 1 < line.length; index += 2) {
    list.push([line[index] ?? 0, line[index + 1] ?? 0]);
  }
  return list;
}

const position = z.tuple([z.number(), z.number()]);
const multi = z.discriminatedUnion("type", [
  z.object({ type: z.literal("MultiPoint"), coordinates: z.array(position) }),
  z.object({ type: z.literal("MultiLineString"), coordinates: z.array(z.array(position)) }),
  z.object({ type: z.literal("MultiPolygon"), coordinates: z.array(z.array(z.array(position))) }),
]);
const feature = z.object({
  geometry: z.union([
    multi,
    z.object({ type: z.literal("GeometryCollection"), geometries: z.array(multi) }),
  ]),
});

/** Reads the geometry of a feature that `toGeoJson` wrote; other GeoJSON is not supported. */
export function fromGeoJson(text: string): Parts {
  const { geometry } = feature.parse(JSON.parse(text));
  const members = geometry.type === "GeometryCollection" ? geometry.geometries : [geometry];
  const flat = (list: Position[]) => Float64Array.from(list.flat());
  return {
    points: flat(members.flatMap((each) => (each.type === "MultiPoint" ? each.coordinates : []))),
    lines: members.flatMap((each) =>
      each.type === "MultiLineString" ? each.coordinates.map(flat) : [],
    ),
    polygons: members.flatMap((each) =>
      each.type === "MultiPolygon" ? each.coordinates.map((rings) => rings.map(flat)) : [],
    ),
  };
}
