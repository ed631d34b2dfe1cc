/**
 * Divides the output into a grid of windows, in its own pixels. Windows touch and never overlap.
 * The pixels that a resampling kernel needs beyond a window are read from the source and not
 * written, so the tiles together equal the output made in one piece.
 */
import { z } from "zod";
import type { Transform } from "./facts.ts";
import { place } from "./inspected.ts";

export const rasterTile = z.looseObject({
  index: z.number().int().min(0),
  row: z.number().int().min(0).optional(),
  column: z.number().int().min(0).optional(),
  /** In pixels of the output: left, top, width, height. */
  window: z.tuple([
    z.number().int().min(0),
    z.number().int().min(0),
    z.number().int().min(1),
    z.number().int().min(1),
  ]),
});
export type RasterTile = z.infer<typeof rasterTile>;

/** Warped blocks are computed whole; a tile that cuts a block would have it computed twice. */
const align = 512;

/** The side of a square tile of about this many uncompressed bytes. */
export function tileSide(bytesPerPixel: number, targetBytes: number): number {
  const side = Math.sqrt(targetBytes / Math.max(1, bytesPerPixel));
  return Math.max(align, Math.round(side / align) * align);
}

export interface Tiling {
  readonly tiles: readonly RasterTile[];
  readonly rows: number;
  readonly columns: number;
}

export function cutTiles(width: number, height: number, side: number): Tiling {
  const columns = Math.ceil(width / side);
  const rows = Math.ceil(height / side);
  const tiles = Array.from({ length: rows * columns }, (_, index): RasterTile => {
    const row = Math.floor(index / columns);
    const column = index % columns;
    const left = column * side;
    const top = row * side;
    const size = [Math.min(side, width - left), Math.min(side, height - top)] as const;
    return { index, row, column, window: [left, top, ...size] };
  });
  return { tiles, rows, columns };
}

/** Rows count from the north: the first tile is the north-western one. */
export function windowBounds(
  transform: Transform,
  [left, top, width, height]: RasterTile["window"],
): [number, number, number, number] {
  const [west, north] = place(transform, left, top);
  const [east, south] = place(transform, left + width, top + height);
  return [
    Math.min(west, east),
    Math.min(north, south),
    Math.max(west, east),
    Math.max(north, south),
  ];
}
