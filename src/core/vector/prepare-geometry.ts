import { splitAtAntimeridian } from "./antimeridian.ts";
import { boundsOf, at, isEmpty } from "./parts.ts";
import type { Parts } from "./parts.ts";
import type { ReadGeometry } from "./read-wkb.ts";

/** Why a feature has no place in a table. */
export type Unusable = "empty" | "not_finite" | "out_of_range";

export type PreparedGeometry =
  | { readonly unusable: Unusable }
  | {
      readonly unusable: undefined;
      readonly parts: Parts;
      readonly wasSplit: boolean;
    };

/** Three turns round the world: what was digitised past the antimeridian goes a little beyond it. */
const farthest = 540;

/**
 * Everything that can be done to one geometry in longitude and latitude without GEOS: two
 * dimensions, the antimeridian, and rings that have no area to enclose. Repair comes after the
 * antimeridian, because a polygon that crosses it looks broken to whoever takes the map for flat.
 */
export function prepareGeometry(read: ReadGeometry): PreparedGeometry {
  if (read.hasNonFinite) return { unusable: "not_finite" };
  const closed = closeRings(read);
  if (isEmpty(closed)) return { unusable: "empty" };
  const bounds = boundsOf(closed);
  if (bounds === undefined) return { unusable: "empty" };
  const [west, south, east, north] = bounds;
  if (west < -farthest || east > farthest || south < -90.000001 || north > 90.000001) {
    return { unusable: "out_of_range" };
  }
  const parts = splitAtAntimeridian(closed);
  return { unusable: undefined, parts, wasSplit: parts !== closed };
}

/** A ring of fewer than four positions is none; one that does not end where it began is closed. */
function closeRings(parts: Parts): Parts {
  const lines = parts.lines.filter((line) => line.length >= 4);
  const polygons = parts.polygons.flatMap((polygon) => {
    const [outer, ...holes] = polygon.map(close);
    if (outer === undefined || outer.length < 8) return [];
    return [[outer, ...holes.filter((hole) => hole.length >= 8)]];
  });
  return { points: parts.points, lines, polygons };
}

function close(ring: Float64Array): Float64Array {
  const last = ring.length - 2;
  if (ring.length < 6) return ring;
  if (at(ring, 0) === at(ring, last) && at(ring, 1) === at(ring, last + 1)) return ring;
  const closed = new Float64Array(ring.length + 2);
  closed.set(ring);
  closed.set(ring.subarray(0, 2), ring.length);
  return closed;
}
