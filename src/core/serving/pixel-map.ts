/**
 * Maps each pixel of a picture to its place in the source. Projecting every pixel would cost far
 * more than the rest of a tile. A grid of exact points with linear interpolation is off by much
 * less than a pixel, because the grid has 16 cells a side, however small the part that the layer
 * covers.
 */
import type { Affine } from "./affine.ts";
import { apply } from "./affine.ts";
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
}): PixelMap {
  const { width, height, box } = picture;
  const columns = new Float64Array(width * height).fill(Number.NaN);
  const rows = new Float64Array(width * height).fill(Number.NaN);
  const map = { width, height, columns, rows };
  const pixelWidth = (box[2] - box[0]) / width;
  const pixelHeight = (box[3] - box[1]) / height;
  for (const { box: part, shift } of picture.parts) {
    const left = Math.max(0, Math.floor((part[0] - box[0]) / pixelWidth));
    const right = Math.min(width, Math.ceil((part[2] - box[0]) / pixelWidth));
    const top = Math.max(0, Math.floor((box[3] - part[3]) / pixelHeight));
    const bottom = Math.min(height, Math.ceil((box[3] - part[1]) / pixelHeight));
    if (left >= right || top >= bottom) continue;
    const place = (column: number, row: number) => {
      const x = box[0] + column * pixelWidth + shift;
      const found = picture.project(x, box[3] - row * pixelHeight);
      return found && apply(picture.toPixels, found[0], found[1]);
    };
    fill(map, { left, top, right, bottom }, place);
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
  map: PixelMap,
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
      const end = Math.min(right, left + (i + 1) * stepX);
      for (let x = left + i * stepX, n = 0; x < end; x++, n++) {
        const share = n / stepX;
        // The first pixel of a cell needs no right neighbour, which may not exist there.
        map.columns[y * map.width + x] = n === 0 ? from : from + share * (to - from);
        map.rows[y * map.width + x] = n === 0 ? fromRow : fromRow + share * (toRow - fromRow);
      }
    }
  }
}
