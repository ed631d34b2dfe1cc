import { splitAtAntimeridian } from "./antimeridian.ts";
import { boundsOf, at, isEmpty } from "./parts.ts";
import type { Parts } from "./parts.ts";
import type { ReadGeometry } from "./read-wkb.ts";

/** Why a feature is not stored in a table. */
export type Unusable = "empty" | "not_finite" | "out_of_range";

export type PreparedGeometry =
  | { readonly unusable: Unusable }
  | {
      readonly unusable: undefined;
      readonly parts: Parts;
      readonly wasSplit: boolean;
    };

/** Three turns round the world: files digitised across the antimeridian go a little beyond 180°. */
const farthest = 540;

/**
 * Prepares one geometry in longitude and latitude without GEOS: two dimensions, cut at the
 * antimeridian, without rings of no area. Invalid geometries are repaired after this step, because
 * a polygon that crosses the antimeridian looks invalid on a flat map.
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

/** Drops rings of fewer than four positions, and closes rings that do not end where they began. */
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
