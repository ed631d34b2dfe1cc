export type Bounds = [west: number, south: number, east: number, north: number];

/** The polygon of a bounding box; a box across the antimeridian becomes two polygons. */
export function boxOf(bbox: readonly number[]): GeoJSON.Geometry {
  const [west, south, east, north] = flat(bbox);
  const ring = (left: number, right: number) => [
    [
      [left, south],
      [right, south],
      [right, north],
      [left, north],
      [left, south],
    ],
  ];
  return west > east
    ? { type: "MultiPolygon", coordinates: [ring(west, 180), ring(-180, east)] }
    : { type: "Polygon", coordinates: ring(west, east) };
}

/** The bounds that contain all boxes. */
export function boundsOf(boxes: readonly (readonly number[])[]): Bounds | undefined {
  const all = boxes.map(flat);
  const [only] = all;
  if (only === undefined || all.length === 1) return only;
  if (all.some(([west, , east]) => west > east)) return [-180, -80, 180, 80];
  return [
    Math.min(...all.map(([west]) => west)),
    Math.min(...all.map(([, south]) => south)),
    Math.max(...all.map(([, , east]) => east)),
    Math.max(...all.map(([, , , north]) => north)),
  ];
}

/** Boxes of STAC may have six numbers: heights stand at the third and sixth place. */
function flat(bbox: readonly number[]): Bounds {
  const [west = -180, south = -85, east = 180, north = 85] =
    bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  return [west, south, east, north];
}
