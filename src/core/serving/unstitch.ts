/**
 * Topologies for globes have polygons that continue across the antimeridian or around a pole. On a
 * flat map such a ring jumps from one edge to the other and covers half the world, so each is cut
 * at ±180 degrees, as GeoJSON requires.
 */
type Position = readonly number[];
type Ring = readonly Position[];

/** Cuts one polygon into as many parts as the antimeridian makes of it. */
export function unstitch(rings: readonly Ring[]): Position[][][] {
  const flat = rings.map(unroll);
  const [outer] = flat;
  if (outer === undefined) return [];
  const lowest = Math.min(...outer.map(([lon = 0]) => lon));
  const highest = Math.max(...outer.map(([lon = 0]) => lon));
  const pieces: Position[][][] = [];
  const last = Math.ceil((highest - 180) / 360);
  for (let turn = Math.floor((lowest + 180) / 360); turn <= last; turn++) {
    const cut = flat.map((ring) => cutTo(ring, 360 * turn)).filter((ring) => ring.length >= 4);
    // A hole may reach into a part that its polygon does not have.
    if (cutTo(outer, 360 * turn).length >= 4) pieces.push(cut);
  }
  return pieces;
}

/** Makes longitudes continue instead of jump; a ring around a pole gets its pole. */
function unroll(ring: Ring): Position[] {
  const made: [number, number][] = [];
  for (const [lon = 0, lat = 0] of ring) {
    const before = made.at(-1)?.[0] ?? lon;
    made.push([lon + 360 * Math.round((before - lon) / 360), lat]);
  }
  const [first] = made;
  const end = made.at(-1);
  if (first === undefined || end === undefined || Math.abs(end[0] - first[0]) < 180) return made;
  const mean = made.reduce((sum, [, lat]) => sum + lat, 0) / made.length;
  const pole = mean < 0 ? -90 : 90;
  return [...made, [end[0], pole], [first[0], pole], first];
}

/** Keeps the part within 180 degrees of the middle, with longitudes between ±180. */
function cutTo(ring: readonly Position[], middle: number): Position[] {
  const left = cutAt(ring, middle - 180, 1);
  const both = cutAt(left, middle + 180, -1);
  const moved = both.map(([lon = 0, lat = 0]): Position => [lon - middle, lat]);
  const [first] = moved;
  return first === undefined ? [] : [...moved, first];
}

/** Keeps the part on one side of a meridian (Sutherland and Hodgman); the returned ring is open. */
function cutAt(ring: readonly Position[], meridian: number, side: 1 | -1): Position[] {
  const kept: Position[] = [];
  for (const [index, [lon = 0, lat = 0]] of ring.entries()) {
    const [lon0 = 0, lat0 = 0] = ring.at(index - 1) ?? [];
    const [here, there] = [side * (lon - meridian), side * (lon0 - meridian)];
    if ((here < 0 && there > 0) || (here > 0 && there < 0)) {
      kept.push([meridian, lat0 + ((lat - lat0) * (meridian - lon0)) / (lon - lon0)]);
    }
    if (here >= 0) kept.push([lon, lat]);
  }
  return kept.length >= 3 && kept.some(([lon]) => lon !== meridian) ? kept : [];
}

interface Polygons {
  readonly type: string;
  readonly coordinates: unknown;
}

/** Makes a Polygon or MultiPolygon fit on a flat map; other geometries stay as they are. */
export function unstitchGeometry<Given extends Polygons>(
  geometry: Given,
): Given | { type: "MultiPolygon"; coordinates: Position[][][] } {
  const polygons =
    geometry.type === "Polygon"
      ? [geometry.coordinates as Ring[]]
      : geometry.type === "MultiPolygon"
        ? (geometry.coordinates as Ring[][])
        : undefined;
  if (polygons === undefined) return geometry;
  return { type: "MultiPolygon", coordinates: polygons.flatMap(unstitch) };
}
