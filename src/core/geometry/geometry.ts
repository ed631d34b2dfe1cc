import { z } from "zod";

/** Longitude and latitude; a third number is a height and is ignored here. */
export type Position = readonly number[];
export type Ring = readonly Position[];

/** The position at an index, counted from the end if negative; rings are closed and never empty. */
export function positionAt(ring: Ring, index: number): Position {
  return ring.at(index) ?? [0, 0];
}

/** West, south, east, north. West is greater than east across the antimeridian. */
export type Bbox = readonly [number, number, number, number];

const longitude = z.number().min(-180).max(180);
const latitude = z.number().min(-90).max(90);
export const bboxSchema = z
  .tuple([longitude, latitude, longitude, latitude])
  .refine(([, south, , north]) => south <= north, "south must not be above north");

const position = z.array(z.number()).min(2).max(4);
const line = z.array(position).min(2);
const ring = z.array(position).min(4);

/** RFC 7946, without collections: STAC does not allow them in an item. */
export const simpleGeometry = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("Point"), coordinates: position }),
  z.looseObject({ type: z.literal("MultiPoint"), coordinates: z.array(position) }),
  z.looseObject({ type: z.literal("LineString"), coordinates: line }),
  z.looseObject({ type: z.literal("MultiLineString"), coordinates: z.array(line) }),
  z.looseObject({ type: z.literal("Polygon"), coordinates: z.array(ring).min(1) }),
  z.looseObject({ type: z.literal("MultiPolygon"), coordinates: z.array(z.array(ring).min(1)) }),
]);
export type SimpleGeometry = z.infer<typeof simpleGeometry>;

/** The geometry of a search, which may also be a collection. */
export const searchGeometry = z.union([
  simpleGeometry,
  z.looseObject({
    type: z.literal("GeometryCollection"),
    geometries: z.array(simpleGeometry).min(1),
  }),
]);
export type SearchGeometry = z.infer<typeof searchGeometry>;

/** The points, lines and polygons of a geometry. */
export interface Shapes {
  readonly points: readonly Position[];
  readonly lines: readonly Ring[];
  readonly polygons: readonly (readonly Ring[])[];
}

export function shapesOf(geometry: SearchGeometry): Shapes {
  switch (geometry.type) {
    case "Point":
      return { points: [geometry.coordinates], lines: [], polygons: [] };
    case "MultiPoint":
      return { points: geometry.coordinates, lines: [], polygons: [] };
    case "LineString":
      return { points: [], lines: [geometry.coordinates], polygons: [] };
    case "MultiLineString":
      return { points: [], lines: geometry.coordinates, polygons: [] };
    case "Polygon":
      return { points: [], lines: [], polygons: [geometry.coordinates] };
    case "MultiPolygon":
      return { points: [], lines: [], polygons: geometry.coordinates };
    case "GeometryCollection": {
      const all = geometry.geometries.map(shapesOf);
      return {
        points: all.flatMap(({ points }) => points),
        lines: all.flatMap(({ lines }) => lines),
        polygons: all.flatMap(({ polygons }) => polygons),
      };
    }
  }
}

/** The number of positions, which is the cost of a test against the geometry. */
export function sizeOf({ points, lines, polygons }: Shapes): number {
  const rings = [...lines, ...polygons.flat()];
  return rings.reduce((sum, each) => sum + each.length, points.length);
}
