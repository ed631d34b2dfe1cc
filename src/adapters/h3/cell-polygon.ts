import { cellToBoundary } from "h3-js";
import type { Position } from "../../core/geometry/geometry.ts";
import type { Polygon } from "../../core/zonal/to-pixels.ts";

/**
 * The boundary of an H3 cell, with straight edges in longitude and latitude. Longitudes go on beyond
 * 180 across the antimeridian; a cell around a pole reaches up to it over all longitudes.
 */
export function cellPolygon(cell: string): Polygon {
  const ring: Position[] = [];
  let last: number | undefined;
  for (const [lat, lon] of cellToBoundary(cell)) {
    const near = last === undefined ? lon : lon + 360 * Math.round((last - lon) / 360);
    ring.push([near, lat]);
    last = near;
  }
  const [first] = ring;
  if (first === undefined || last === undefined) return [];
  const [firstLon = 0, firstLat = 0] = first;
  // Closed without a step of more than half a turn: the cell does not contain a pole.
  const turn = 360 * Math.round((last - firstLon) / 360);
  if (turn === 0) return [[...ring, first]];
  const pole = firstLat > 0 ? 90 : -90;
  return [[...ring, [firstLon + turn, firstLat], [firstLon + turn, pole], [firstLon, pole], first]];
}
