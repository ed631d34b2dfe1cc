/**
 * Maps each pixel of a picture to its place in the source. Projecting every pixel would cost far
 * more than the rest of a tile. A grid of exact points with linear interpolation is off by much
 * less than a pixel, because the grid has 16 cells a side, however small the part that the layer
 * covers.
 */
import type { Affine } from "./affine.ts";
import { apply } from "./affine.ts";
import type { Memory } from "./memory.ts";
import { newMemory } from "./memory.ts";
import type { Box } from "./web-mercator.ts";

/** Projects a place to another coordinate reference system; undefined if it has no place there. */
export type Project = (x: number, y: number) => readonly [number, number] | undefined;

/**
 * The column and row in the source for every pixel of the picture; NaN: the source has no pixel
 * there.
 */
export interface PixelMap {
  readonly width: number;
  readonly height: number;
  readonly columns: Float64Array;
  readonly rows: Float64Array;
  /** For each cell: the least column, the least row, the greatest column and the greatest row in it. */
  readonly reaches: number[];
}

const cells = 16;

/** `parts`: the boxes, in coordinates of the picture, that the source covers. */
export function mapPixels(picture: {
  readonly box: Box;
  readonly width: number;
  readonly height: number;
  readonly parts: readonly { readonly box: Box; readonly shift: number }[];
  readonly project: Project;
  /** From coordinates of the source to its pixels. */
  readonly toPixels: Affine;
  readonly memory?: Memory | undefined;
}): PixelMap {
  const { width, height, box, memory = newMemory } = picture;
  const columns = memory(Float64Array, width * height);
  const rows = memory(Float64Array, width * height);
  const map = { width, height, columns, rows, reaches: [] };
  const pixelWidth = (box[2] - box[0]) / width;
  const pixelHeight = (box[3] - box[1]) / height;
  const areas = picture.parts.map(({ box: part, shift }) => ({
    left: Math.max(0, Math.floor((part[0] - box[0]) / pixelWidth)),
    right: Math.min(width, Math.ceil((part[2] - box[0]) / pixelWidth)),
    top: Math.max(0, Math.floor((box[3] - part[3]) / pixelHeight)),
    bottom: Math.min(height, Math.ceil((box[3] - part[1]) / pixelHeight)),
    shift,
  }));
  const isCovered = areas.some(
    ({ left, right, top, bottom }) => left + top === 0 && right === width && bottom === height,
  );
  if (!isCovered) {
    columns.fill(Number.NaN);
    rows.fill(Number.NaN);
  }
  for (const { shift, ...area } of areas) {
    if (area.left >= area.right || area.top >= area.bottom) continue;
    const place = (column: number, row: number) => {
      const x = box[0] + column * pixelWidth + shift;
      const found = picture.project(x, box[3] - row * pixelHeight);
      return found && apply(picture.toPixels, found[0], found[1]);
    };
    fill(map, area, place);
  }
  return map;
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function fill(
  { width, columns, rows, reaches }: PixelMap,
  area: Area,
  place: (column: number, row: number) => [number, number] | undefined,
): void {
  const { left, top, right, bottom } = area;
  const stepX = Math.max(1, Math.ceil((right - left) / cells));
  const stepY = Math.max(1, Math.ceil((bottom - top) / cells));
  const across = Math.ceil((right - left) / stepX) + 1;
  const down = Math.ceil((bottom - top) / stepY) + 1;
  const grid = new Float64Array(across * down * 2);
  for (let j = 0; j < down; j++) {
    for (let i = 0; i < across; i++) {
      // Centres of pixels, so that a grid of single pixels is exact.
      const [column, row] = place(left + i * stepX + 0.5, top + j * stepY + 0.5) ?? [NaN, NaN];
      grid[2 * (j * across + i)] = column;
      grid[2 * (j * across + i) + 1] = row;
      if (i > 0 && j > 0) pushReach(reaches, grid, 2 * (j * across + i), 2 * across);
    }
  }
  const at = (index: number) => grid[index] ?? Number.NaN;
  for (let y = top; y < bottom; y++) {
    const j = Math.floor((y - top) / stepY);
    const shareY = (y - top) / stepY - j;
    for (let i = 0; left + i * stepX < right; i++) {
      const upper = 2 * (j * across + i);
      const lower = shareY === 0 ? upper : upper + 2 * across;
      const from = at(upper) + shareY * (at(lower) - at(upper));
      const to = at(upper + 2) + shareY * (at(lower + 2) - at(upper + 2));
      const fromRow = at(upper + 1) + shareY * (at(lower + 1) - at(upper + 1));
      const toRow = at(upper + 3) + shareY * (at(lower + 3) - at(upper + 3));
      const first = y * width + left + i * stepX;
      const count = Math.min(right - left - i * stepX, stepX);
      // The first pixel of a cell needs no right neighbour, which may not exist there.
      columns[first] = from;
      rows[first] = fromRow;
      for (let n = 1; n < count; n++) {
        const share = n / stepX;
        columns[first + n] = from + share * (to - from);
        rows[first + n] = fromRow + share * (toRow - fromRow);
      }
    }
  }
}

/** Adds the reach of the cell that ends at `corner`: its pixels lie between its corners. */
function pushReach(reaches: number[], grid: Float64Array, corner: number, down: number): void {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const index of [corner, corner - 2, corner - down, corner - down - 2]) {
    const column = grid[index] ?? Number.NaN;
    const row = grid[index + 1] ?? Number.NaN;
    // Comparisons with NaN are false.
    if (column < left) left = column;
    if (column > right) right = column;
    if (row < top) top = row;
    if (row > bottom) bottom = row;
  }
  reaches.push(left, top, right, bottom);
}
