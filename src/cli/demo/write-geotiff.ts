/**
 * Writes a plain GeoTIFF: one band of 32-bit floats in strips, without tiles or overviews. The
 * workflow of the demo turns it into a cloud-optimised one.
 */
import { deflateSync } from "node:zlib";
import type { Terrain } from "./make-samples.ts";

export interface Placement {
  /** EPSG code of a projected system in metres. */
  readonly epsg: number;
  readonly west: number;
  readonly north: number;
  /** Metres a side. */
  readonly pixel: number;
}

const rowsPerStrip = 64;
const headerBytes = 8;

const types = { ascii: 2, short: 3, long: 4, double: 12 } as const;
const sizes = { ascii: 1, short: 2, long: 4, double: 8 } as const;

interface Tag {
  readonly id: number;
  readonly type: keyof typeof types;
  readonly values: readonly number[];
}

export function writeGeoTiff(
  { width, height, heights }: Terrain,
  placement: Placement,
): Uint8Array {
  const strips: Uint8Array[] = [];
  for (let row = 0; row < height; row += rowsPerStrip) {
    const part = heights.slice(row * width, Math.min(height, row + rowsPerStrip) * width);
    strips.push(deflateSync(new Uint8Array(part.buffer)));
  }
  let end = headerBytes;
  const offsets = strips.map((strip) => {
    const offset = end;
    end += strip.length;
    return offset;
  });
  end += end % 2;
  const { epsg, west, north, pixel } = placement;
  // GeoKeys 1.1: model type projected, raster type area, and the EPSG code.
  const keys = [1, 1, 1, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, epsg];
  const tags: Tag[] = [
    { id: 256, type: "long", values: [width] },
    { id: 257, type: "long", values: [height] },
    { id: 258, type: "short", values: [32] },
    { id: 259, type: "short", values: [8] },
    { id: 262, type: "short", values: [1] },
    { id: 273, type: "long", values: offsets },
    { id: 277, type: "short", values: [1] },
    { id: 278, type: "long", values: [rowsPerStrip] },
    { id: 279, type: "long", values: strips.map(({ length }) => length) },
    { id: 339, type: "short", values: [3] },
    { id: 33550, type: "double", values: [pixel, pixel, 0] },
    { id: 33922, type: "double", values: [0, 0, 0, west, north, 0] },
    { id: 34735, type: "short", values: keys },
    { id: 42113, type: "ascii", values: [...Buffer.from("-9999\0")] },
  ];
  const directory = writeDirectory(tags, end);
  const header = Buffer.alloc(headerBytes);
  header.write("II*\0", "latin1");
  header.writeUInt32LE(end, 4);
  const padding = Buffer.alloc(
    end - headerBytes - strips.reduce((sum, each) => sum + each.length, 0),
  );
  return Buffer.concat([header, ...strips, padding, directory]);
}

/**
 * The TIFF directory at offset `start`, followed by the values that do not fit into its entries.
 */
function writeDirectory(tags: readonly Tag[], start: number): Buffer {
  const directory = Buffer.alloc(2 + tags.length * 12 + 4);
  directory.writeUInt16LE(tags.length, 0);
  const behind: Buffer[] = [];
  let place = start + directory.length;
  for (const [index, { id, type, values }] of tags.entries()) {
    const at = 2 + index * 12;
    const data = packValues(type, values);
    directory.writeUInt16LE(id, at);
    directory.writeUInt16LE(types[type], at + 2);
    directory.writeUInt32LE(values.length, at + 4);
    if (data.length <= 4) data.copy(directory, at + 8);
    else {
      directory.writeUInt32LE(place, at + 8);
      behind.push(data);
      place += data.length;
    }
  }
  return Buffer.concat([directory, ...behind]);
}

/** Packs values into bytes, padded to an even length as TIFF requires. */
function packValues(type: Tag["type"], values: readonly number[]): Buffer {
  const bytes = values.length * sizes[type];
  const data = Buffer.alloc(bytes + (bytes % 2));
  for (const [index, value] of values.entries()) {
    if (type === "ascii") data.writeUInt8(value, index);
    else if (type === "short") data.writeUInt16LE(value, index * 2);
    else if (type === "long") data.writeUInt32LE(value, index * 4);
    else data.writeDoubleLE(value, index * 8);
  }
  return data;
}
