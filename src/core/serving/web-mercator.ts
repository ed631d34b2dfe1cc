import type { Bounds } from "../vector/parts.ts";

/** WebMercatorQuad: the square of the world that web maps cut into tiles. Metres, and degrees. */
const radius = 6_378_137;
export const halfWorld = Math.PI * radius;
/** The latitude at which the square ends. */
export const mostLatitude = (Math.atan(Math.sinh(Math.PI)) * 180) / Math.PI;

export interface Tile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** Left, bottom, right, top. */
export type Box = readonly [number, number, number, number];

/** Finer than any sensor: zoom 22 is 4 cm a pixel. */
export const mostZoom = 24;

export function isTile({ z, x, y }: Tile): boolean {
  const count = 2 ** z;
  return z >= 0 && z <= mostZoom && x >= 0 && x < count && y >= 0 && y < count;
}

export function tileBox({ z, x, y }: Tile): Box {
  const size = (2 * halfWorld) / 2 ** z;
  const left = -halfWorld + x * size;
  const top = halfWorld - y * size;
  return [left, top - size, left + size, top];
}

/** The size of one pixel in metres at the equator. */
export function resolutionAt(zoom: number, tileSize = 256): number {
  return (2 * halfWorld) / (tileSize * 2 ** zoom);
}

/** The lowest zoom whose pixels are not larger than this resolution. */
export function zoomFor(resolution: number, tileSize = 256): number {
  const exact = Math.log2((2 * halfWorld) / (tileSize * resolution));
  // A whole zoom may come out as 11.9999 and must become 12, neither 11 nor 13.
  return Math.min(mostZoom, Math.max(0, Math.ceil(exact - 0.01)));
}

export function toMercator(lon: number, lat: number): [number, number] {
  const limited = Math.max(-mostLatitude, Math.min(mostLatitude, lat));
  const y = Math.asinh(Math.tan((limited * Math.PI) / 180)) * radius;
  return [(lon * halfWorld) / 180, y];
}

export function toDegrees(x: number, y: number): [number, number] {
  return [(x / halfWorld) * 180, (Math.atan(Math.sinh(y / radius)) * 180) / Math.PI];
}

/** The bounds of a web-mercator tile in degrees, widened by a share of its side. */
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
