/**
 * Computes the exact share of each pixel that lies in a polygon. Rings are in pixels of the raster,
 * whose affine transform keeps shares as they are, so a rotated raster needs nothing of its own.
 *
 * Every edge adds the area to its right, row by row; the sum over a closed ring is the area inside.
 * Vertical coordinates of one row are multiples of one power of two, so their differences add up
 * without rounding: a pixel inside has a share of exactly 1, and one outside exactly 0.
 */
import type { Samples } from "../serving/resample.ts";

/** x and y in turn; the last point is joined to the first. */
export type PixelRing = Float64Array;

export interface PixelWindow {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Called for each row, from top to bottom. `shares` is reused: it holds `count` pixels from `column`. */
export type VisitRow = (row: number, column: number, shares: Float64Array, count: number) => void;

/** A line of pixels with their shares: pixel i of the shares is at `offset + i` of the values. */
export interface CoveredLine {
  readonly values: Samples;
  /** 0: no data. */
  readonly mask: Uint8Array;
  readonly offset: number;
  readonly shares: Float64Array;
  readonly count: number;
}

/** Rounding of two edges that cancel each other; a share this small is none. */
const noise = 1e-12;
const mostCells = 1 << 20;

/**
 * Makes the function that covers windows, with its own memory for the sums. Rings must be oriented:
 * see `orientRing`.
 */
export function createCover() {
  let areas = new Float64Array(1024);
  let covers = new Float64Array(1024);
  let firsts = new Int32Array(64);
  let lasts = new Int32Array(64);
  let shares = new Float64Array(64);

  function reserve(width: number, height: number): void {
    const cells = width * height;
    if (areas.length < cells) {
      areas = new Float64Array(2 * cells);
      covers = new Float64Array(2 * cells);
    } else {
      areas.fill(0, 0, cells);
      covers.fill(0, 0, cells);
    }
    if (firsts.length < height) {
      firsts = new Int32Array(2 * height);
      lasts = new Int32Array(2 * height);
    }
    if (shares.length < width) shares = new Float64Array(2 * width);
    firsts.fill(width, 0, height);
    lasts.fill(-1, 0, height);
  }

  /** Adds a part of an edge that lies in one column: `dy` is positive downwards. */
  function add(index: number, row: number, column: number, dy: number, right: number): void {
    areas[index] = (areas[index] ?? 0) + dy * right;
    covers[index] = (covers[index] ?? 0) + dy;
    if (column < (firsts[row] ?? 0)) firsts[row] = column;
    if (column > (lasts[row] ?? 0)) lasts[row] = column;
  }

  /** A part of an edge within one row, from left to right; y is the local coordinate plus one. */
  function addRow(
    row: number,
    width: number,
    sign: number,
    x0: number,
    y0: number,
    x1: number,
    y1: number,
  ): void {
    const start = row * width;
    const slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0;
    const low = Math.min(y0, y1);
    const high = Math.max(y0, y1);
    let x = x0;
    let y = y0;
    if (x < 0) {
      const next = x1 <= 0 ? y1 : Math.min(high, Math.max(low, y0 - x0 * slope));
      add(start, row, 0, sign * (next - y), 1);
      if (x1 <= 0) return;
      x = 0;
      y = next;
    }
    let column = Math.floor(x);
    while (column < width) {
      const isLast = x1 <= column + 1;
      const toX = isLast ? x1 : column + 1;
      const toY = isLast ? y1 : Math.min(high, Math.max(low, y0 + (toX - x0) * slope));
      const right = 1 - (x - column + (toX - column)) / 2;
      add(start + column, row, column, sign * (toY - y), right);
      if (isLast) return;
      x = toX;
      y = toY;
      column += 1;
    }
  }

  function addEdge(
    width: number,
    height: number,
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
  ): void {
    if (fromY === toY) return;
    const isDown = toY > fromY;
    const xa = isDown ? fromX : toX;
    const ya = isDown ? fromY : toY;
    const xb = isDown ? toX : fromX;
    const yb = isDown ? toY : fromY;
    if (yb <= 1 || ya >= height + 1) return;
    if (xa >= width && xb >= width) return;
    const slope = (xb - xa) / (yb - ya);
    let y = Math.max(ya, 1);
    let x = y === ya ? xa : xa + (y - ya) * slope;
    const end = Math.min(yb, height + 1);
    while (y < end) {
      const row = Math.floor(y);
      const nextY = Math.min(end, row + 1);
      const nextX = nextY >= yb ? xb : xa + (nextY - ya) * slope;
      // Left to right: the differences of y then have the opposite sign.
      if (x <= nextX) addRow(row - 1, width, isDown ? 1 : -1, x, y, nextX, nextY);
      else addRow(row - 1, width, isDown ? -1 : 1, nextX, nextY, x, y);
      x = nextX;
      y = nextY;
    }
  }

  function visitRows({ left, top, width, height }: PixelWindow, visit: VisitRow): void {
    for (let row = 0; row < height; row++) {
      const first = firsts[row] ?? width;
      const last = lasts[row] ?? -1;
      if (last < first) continue;
      let cover = 0;
      let count = 0;
      for (let column = first; column < width; column++) {
        const index = row * width + column;
        const share = cover + (areas[index] ?? 0);
        cover += covers[index] ?? 0;
        shares[count++] = share < noise ? 0 : share > 1 - noise ? 1 : share;
        if (column >= last && cover < noise) break;
      }
      visit(top + row, left + first, shares, count);
    }
  }

  return function cover(rings: readonly PixelRing[], window: PixelWindow, visit: VisitRow): void {
    const box = clipWindow(rings, window);
    if (box === undefined) return;
    const { left, width } = box;
    const step = Math.max(1, Math.floor(mostCells / width));
    for (let top = box.top; top < box.top + box.height; top += step) {
      const height = Math.min(step, box.top + box.height - top);
      reserve(width, height);
      for (const ring of rings) {
        const count = ring.length;
        // One is added so that all rows begin at 1 or later, where doubles are spaced evenly in a row.
        let x = (ring[count - 2] ?? 0) - left;
        let y = (ring[count - 1] ?? 0) - top + 1;
        for (let index = 0; index < count; index += 2) {
          const toX = (ring[index] ?? 0) - left;
          const toY = (ring[index + 1] ?? 0) - top + 1;
          addEdge(width, height, x, y, toX, toY);
          x = toX;
          y = toY;
        }
      }
      visitRows({ left, top, width, height }, visit);
    }
  };
}

/** The part of the window that the rings can touch. */
export function clipWindow(
  rings: readonly PixelRing[],
  window: PixelWindow,
): PixelWindow | undefined {
  let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const ring of rings) {
    for (let index = 0; index < ring.length; index += 2) {
      const x = ring[index] ?? 0;
      const y = ring[index + 1] ?? 0;
      if (x < west) west = x;
      if (x > east) east = x;
      if (y < north) north = y;
      if (y > south) south = y;
    }
  }
  const left = Math.max(window.left, Math.floor(west));
  const top = Math.max(window.top, Math.floor(north));
  const width = Math.min(window.left + window.width, Math.ceil(east)) - left;
  const height = Math.min(window.top + window.height, Math.ceil(south)) - top;
  return width > 0 && height > 0 ? { left, top, width, height } : undefined;
}

/** Turns a ring so that it adds its area, or takes it away where it is a hole. */
export function orientRing(ring: PixelRing, isHole: boolean): PixelRing {
  let twice = 0;
  const originX = ring[0] ?? 0;
  const originY = ring[1] ?? 0;
  for (let index = 0; index < ring.length; index += 2) {
    const next = (index + 2) % ring.length;
    const [x, y] = [(ring[index] ?? 0) - originX, (ring[index + 1] ?? 0) - originY];
    const [toX, toY] = [(ring[next] ?? 0) - originX, (ring[next + 1] ?? 0) - originY];
    twice += x * toY - toX * y;
  }
  if (twice < 0 !== isHole) return ring;
  const turned = new Float64Array(ring.length);
  for (let index = 0; index < ring.length; index += 2) {
    const from = ring.length - 2 - index;
    turned[index] = ring[from] ?? 0;
    turned[index + 1] = ring[from + 1] ?? 0;
  }
  return turned;
}
