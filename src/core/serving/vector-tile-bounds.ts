import type { Bounds } from "../vector/bounds.ts";

/** A web-mercator tile in degrees, widened by a part of its side. */
export function tileBounds(z: number, x: number, y: number, margin = 0): Bounds {
  const tiles = 2 ** z;
  const longitude = (column: number) => (column / tiles) * 360 - 180;
  const latitude = (row: number) =>
    (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / tiles))) * 180) / Math.PI;
  return [
    Math.max(-180, longitude(x - margin)),
    latitude(Math.min(tiles, y + 1 + margin)),
    Math.min(180, longitude(x + 1 + margin)),
    latitude(Math.max(0, y - margin)),
  ];
}
