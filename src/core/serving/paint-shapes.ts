/** Paints shapes that GDAL has burned with their numbers: areas in one colour, outlines darker. */
import type { Picture } from "./paint.ts";

/** The value of a pixel that no shape covers. */
export const noShape = -1;

const fill = [0x7f, 0xb2, 0xd9, 0xff] as const;
const outline = [0x1b, 0x4f, 0x7a, 0xff] as const;

/** `ids` has the number of the topmost shape for each pixel, row by row. */
export function paintShapes(ids: ArrayLike<number>, width: number, height: number): Picture {
  const rgba = new Uint8Array(width * height * 4);
  const idAt = (column: number, row: number) =>
    column < 0 || row < 0 || column >= width || row >= height
      ? undefined
      : ids[row * width + column];
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const id = idAt(column, row);
      if (id === noShape) continue;
      const isInside =
        isSame(id, idAt(column - 1, row)) &&
        isSame(id, idAt(column + 1, row)) &&
        isSame(id, idAt(column, row - 1)) &&
        isSame(id, idAt(column, row + 1));
      rgba.set(isInside ? fill : outline, (row * width + column) * 4);
    }
  }
  return { width, height, rgba, isOpaque: false };
}

/** The edge of the picture is not the edge of a shape. */
function isSame(id: number | undefined, neighbour: number | undefined): boolean {
  return neighbour === undefined || neighbour === id;
}

/** The size of a picture of an area, at most `longest` pixels on its longer side. */
export function pictureSize(
  area: { readonly width: number; readonly height: number },
  longest: number,
): { readonly width: number; readonly height: number } {
  const scale = longest / Math.max(area.width, area.height);
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: side(area.width), height: side(area.height) };
}
