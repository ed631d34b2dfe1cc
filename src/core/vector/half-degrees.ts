/**
 * GDAL cuts polygons at the antimeridian and at the poles by itself where it transforms to degrees, and
 * joins both sides of a polygon that is cut there already: Fiji in EPSG:3832 then covers the south pole.
 * It leaves other units of angle alone. So it is asked for units of two degrees, which doubling makes
 * degrees without a rounding error, and `antimeridian.ts` alone cuts.
 */
import type { ReadGeometry } from "./read-wkb.ts";

export const halfDegreesWkt =
  'GEOGCS["WGS 84 in units of two degrees",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["two degrees",0.0349065850398866],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]';

/** True for degrees that GDAL passes on as they are, digit by digit. `crs`: a code, WKT or PROJJSON. */
export function isInDegrees(crs: string): boolean {
  return (
    /^\s*(?:GEOG|GEODETICCRS)/i.test(crs) ||
    /^(?:EPSG:(?:4326|4979|4258|4269)|OGC:CRS84h?)$/i.test(crs.trim()) ||
    /^\s*\{[^[]*"type"\s*:\s*"GeographicCRS"/.test(crs)
  );
}

/** Doubles every coordinate in place: the geometry has just been read. */
export function doubleCoordinates<Read extends Pick<ReadGeometry, "points" | "lines" | "polygons">>(
  read: Read,
): Read {
  for (const line of [read.points, ...read.lines, ...read.polygons.flat()]) {
    for (let index = 0; index < line.length; index++) line[index] = 2 * (line[index] ?? 0);
  }
  return read;
}
