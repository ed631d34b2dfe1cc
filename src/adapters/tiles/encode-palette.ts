/**
 * A PNG with a palette, for pictures of at most 256 colours, such as those of a colormap: the same pixels
 * as in red, green, blue and alpha, with a quarter of the bytes to compress.
 */
import { constants, crc32, deflateSync } from "node:zlib";
import type { Picture } from "../../core/serving/paint.ts";

const mostColours = 256;
const places = 1024;
const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** PNG's filter "up": a byte is the difference to the one above it. */
const up = 2;
/** Small differences are packed by how frequent they are and by their runs; looking for others takes longer. */
const forDifferences = { strategy: constants.Z_RLE };

/** Undefined: the picture has more colours. */
export function encodePalette(picture: Picture): Uint8Array | undefined {
  const { width, height, rgba } = picture;
  const found = knownColours(picture) ?? countColours(rgba, width, height);
  if (found === undefined) return undefined;
  const { colours, rows, isDifferences } = found;
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  // 8 bits a pixel, with a palette.
  header.set([8, 3], 8);
  const count = colours.length / 4;
  const palette = new Uint8Array(3 * count);
  const alphas = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    palette.set(colours.subarray(4 * index, 4 * index + 3), 3 * index);
    alphas[index] = colours[4 * index + 3] ?? 255;
  }
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", palette),
    ...(alphas.every((alpha) => alpha === 255) ? [] : [chunk("tRNS", alphas)]),
    chunk("IDAT", deflateSync(rows, isDifferences ? forDifferences : { level: 4 })),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

interface Colours {
  readonly colours: Uint8Array;
  /** The rows of the PNG: each the number of its filter, then a byte for each pixel. */
  readonly rows: Uint8Array;
  /** The rows were filtered. */
  readonly isDifferences?: boolean;
}

/**
 * Of a picture that was painted by a table. Along a ramp the differences to the row above take 20 % fewer
 * bytes than the numbers themselves, and less than half of the time (a terrain).
 */
function knownColours({ width, height, palette }: Picture): Colours | undefined {
  if (palette === undefined) return undefined;
  const { indices, colours, isRamp } = palette;
  if (isRamp) return { colours, rows: differences(indices, width, height), isDifferences: true };
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) {
    rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  return { colours, rows };
}

function differences(indices: Uint8Array, width: number, height: number): Uint8Array {
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0, at = 0, to = 0; y < height; y++) {
    rows[to++] = up;
    for (let x = 0; x < width; x++, at++, to++) {
      // Above the first row are zeros. What is below 0 wraps around, as PNG has it.
      const above = y === 0 ? 0 : (indices[at - width] ?? 0);
      rows[to] = (indices[at] ?? 0) - above;
    }
  }
  return rows;
}

function countColours(rgba: Uint8Array, width: number, height: number): Colours | undefined {
  const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  const palette = new Uint32Array(mostColours);
  // Open addressing; an entry is one more than the place of its colour in the palette.
  const table = new Uint16Array(places);
  const rows = new Uint8Array((width + 1) * height);
  let count = 0;
  let last = -1;
  let lastIndex = 0;
  for (let y = 0, at = 0, to = 0; y < height; y++) {
    to++;
    for (let x = 0; x < width; x++, at++, to++) {
      const colour = pixels[at] ?? 0;
      if (colour !== last) {
        let place = Math.imul(colour, 0x9e3779b1) >>> 22;
        let entry = table[place] ?? 0;
        while (entry !== 0 && palette[entry - 1] !== colour) {
          place = (place + 1) % places;
          entry = table[place] ?? 0;
        }
        if (entry === 0) {
          if (count === mostColours) return undefined;
          palette[count] = colour;
          entry = ++count;
          table[place] = entry;
        }
        last = colour;
        lastIndex = entry - 1;
      }
      rows[to] = lastIndex;
    }
  }
  return { colours: new Uint8Array(palette.buffer, 0, 4 * count), rows };
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const made = Buffer.alloc(12 + data.length);
  made.writeUInt32BE(data.length, 0);
  made.write(type, 4, "latin1");
  made.set(data, 8);
  made.writeUInt32BE(crc32(made.subarray(4, 8 + data.length)), 8 + data.length);
  return made;
}
