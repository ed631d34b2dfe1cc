import type { Bounds } from "../vector/parts.ts";
import type { Tile } from "./web-mercator.ts";
import { mostLatitude } from "./web-mercator.ts";

/** The number of a tile in PMTiles: all tiles of lower zooms, then its place on a Hilbert curve. */
export function tileNumber({ z, x, y }: Tile): number {
  let number = (4 ** z - 1) / 3;
  let [column, row] = [x, y];
  for (let half = 2 ** z / 2; half >= 1; half /= 2) {
    const isRight = (column & half) > 0 ? 1 : 0;
    const isLow = (row & half) > 0 ? 1 : 0;
    number += half * half * ((3 * isRight) ^ isLow);
    if (isLow === 0) {
      if (isRight === 1) {
        column = half - 1 - (column & (half - 1));
        row = half - 1 - (row & (half - 1));
      }
      [column, row] = [row, column];
    }
  }
  return number;
}

/** The columns and rows of tiles that bounds touch at a zoom. */
export function tilesOf(bounds: Bounds, z: number): Tile[] {
  const [left, top, right, bottom] = edgesOf(bounds, z);
  const tiles: Tile[] = [];
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) tiles.push({ z, x, y });
  }
  return tiles;
}

/**
 * The highest zoom, at most `highest`, with at most `mostTiles` tiles; by default one whose tiles are
 * made in minutes: 7 for the whole world. Viewers enlarge the tiles of the last zoom beyond it.
 */
export function lastZoom(bounds: Bounds, highest = 10, mostTiles = 20_000): number {
  let zoom = highest;
  while (zoom > 0 && countAt(bounds, zoom) > mostTiles) zoom--;
  return zoom;
}

export function countAt(bounds: Bounds, z: number): number {
  const [left, top, right, bottom] = edgesOf(bounds, z);
  return (right - left + 1) * (bottom - top + 1);
}

/** The first column and row that bounds touch, and the last ones. */
function edgesOf([west, south, east, north]: Bounds, z: number): Bounds {
  const count = 2 ** z;
  const limit = (value: number) => Math.min(count - 1, Math.max(0, Math.floor(value)));
  const column = (longitude: number) => limit(((longitude + 180) / 360) * count);
  const row = (latitude: number) => {
    const kept = Math.min(mostLatitude, Math.max(-mostLatitude, latitude));
    const y = Math.asinh(Math.tan((kept * Math.PI) / 180));
    return limit(((1 - y / Math.PI) / 2) * count);
  };
  return [column(west), row(north), column(east), row(south)];
}
