import type { PixelMap } from "./pixel-map.ts";

/**
 * The number of full-size source pixels along the side of one pixel of the picture; undefined if
 * the picture shows none.
 */
export function measureReduction(map: PixelMap): number | undefined {
  const { width, height, columns, rows } = map;
  let least = Number.POSITIVE_INFINITY;
  // A few rows are enough: the scale changes slowly over a tile.
  const stepY = Math.max(1, Math.floor(height / 8));
  const stepX = Math.max(1, Math.floor(width / 8));
  for (let y = 0; y + 1 < height; y += stepY) {
    for (let x = 0; x + 1 < width; x += stepX) {
      const here = y * width + x;
      const area = Math.abs(
        difference(columns, here, here + 1) * difference(rows, here, here + width) -
          difference(columns, here, here + width) * difference(rows, here, here + 1),
      );
      if (area > 0 && area < least) least = area;
    }
  }
  return Number.isFinite(least) ? Math.sqrt(least) : undefined;
}

function difference(values: Float64Array, from: number, to: number): number {
  return (values[to] ?? Number.NaN) - (values[from] ?? Number.NaN);
}

/** Chooses the smallest overview that still has a pixel for each pixel of the picture. */
export function chooseLevel(
  levels: readonly { readonly width: number; readonly height: number }[],
  reduction: number,
): number {
  const full = levels[0];
  if (full === undefined) throw new Error("a raster has at least one level");
  let best = 0;
  for (const [index, level] of levels.entries()) {
    const factor = full.width / level.width;
    // The 2 % are for rounding: the overview of 1001 pixels has 501, which is its half.
    if (factor <= reduction * 1.02 && level.width < (levels[best]?.width ?? 0)) best = index;
  }
  return best;
}
