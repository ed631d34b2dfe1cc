/**
 * Writes small TIFFs with exactly the structure that a test is about: tiles, overviews, masks,
 * predictors, byte order. Files of real programs come from the fixtures and from GDAL.
 */
import { deflateSync } from "node:zlib";

type Numbers = Uint8Array | Uint16Array | Int16Array | Uint32Array | Float32Array | Float64Array;

export interface TiffImageSpec {
  readonly width: number;
  readonly height: number;
  readonly block: number;
  /** One array of width × height a band. */
  readonly bands: readonly Numbers[];
  /** 0 the image, 1 an overview, 4 a mask, 5 a mask of an overview. */
  readonly kind?: number;
  readonly predictor?: 1 | 2 | 3;
  readonly compression?: "none" | "deflate";
  /** Instead of samples: the bytes of each block, and the tag that says what they are. */
  readonly encoded?: { readonly compression: number; readonly blocks: readonly Uint8Array[] };
  /** Of JPEG: what its blocks have in common. */
  readonly tables?: Uint8Array;
  readonly photometric?: number;
  readonly isSeparate?: boolean;
  readonly hasAlpha?: boolean;
  /** Blocks, by index, that are left out. */
  readonly sparse?: readonly number[];
  readonly oneBit?: boolean;
  readonly colours?: readonly number[];
}

export interface TiffSpec {
  readonly images: readonly TiffImageSpec[];
  readonly epsg?: number;
  readonly origin?: readonly [number, number];
  readonly pixel?: readonly [number, number];
  readonly nodata?: string;
  /** GDAL's metadata, as XML. */
  readonly metadata?: string;
  /** 2: text, as GDAL writes it. 3 or 4: a number for each letter. */
  readonly metadataType?: 2 | 3 | 4;
  /** Offsets of directories below the first one. */
  readonly subDirectories?: readonly number[];
  readonly bigEndian?: boolean;
  /** The directory is before the pixels, as a COG of one image has it. */
  readonly isCog?: boolean;
}

interface Tag {
  readonly id: number;
  readonly type: 2 | 3 | 4 | 7 | 12;
  readonly values: readonly number[];
}

const sizes = { 2: 1, 3: 2, 4: 4, 7: 1, 12: 8 } as const;

export function writeTiff(spec: TiffSpec): Uint8Array {
  const little = spec.bigEndian !== true;
  const parts: Uint8Array[] = [];
  let length = 0;
  const append = (bytes: Uint8Array): number => {
    const at = length;
    const padded = new Uint8Array(bytes.length + (bytes.length % 2));
    padded.set(bytes);
    parts.push(padded);
    length += padded.length;
    return at;
  };
  append(new Uint8Array(8));
  const header = parts[0]!;
  const view = new DataView(header.buffer, header.byteOffset);
  view.setUint16(0, little ? 0x4949 : 0x4d4d);
  view.setUint16(2, 42, little);
  let link: { bytes: Uint8Array; at: number } = { bytes: header, at: 4 };
  for (const [index, image] of spec.images.entries()) {
    const blocks = image.encoded?.blocks ?? cutBlocks(image, little);
    const ifdBytes = (tags: readonly Tag[]) => 2 + tags.length * 12 + 4;
    const early = () => append(new Uint8Array(ifdBytes(tagsOf(spec, image, index === 0, [], []))));
    const reserved = spec.isCog === true ? { place: early(), bytes: parts.at(-1)! } : undefined;
    const places = blocks.map((block, at) =>
      image.sparse?.includes(at) === true ? 0 : append(block),
    );
    const tags = tagsOf(spec, image, index === 0, blocks, places);
    const ifd = new Uint8Array(ifdBytes(tags));
    const entries = new DataView(ifd.buffer);
    entries.setUint16(0, tags.length, little);
    for (const [row, { id, type, values }] of tags.entries()) {
      const at = 2 + row * 12;
      const data = packValues(type, values, little);
      entries.setUint16(at, id, little);
      entries.setUint16(at + 2, type, little);
      entries.setUint32(at + 4, values.length, little);
      if (data.length <= 4) ifd.set(data, at + 8);
      else entries.setUint32(at + 8, append(data), little);
    }
    reserved?.bytes.set(ifd);
    const place = reserved?.place ?? append(ifd);
    new DataView(link.bytes.buffer, link.bytes.byteOffset).setUint32(link.at, place, little);
    link = { bytes: reserved?.bytes ?? parts.at(-1)!, at: ifd.length - 4 };
  }
  return Buffer.concat(parts);
}

function tagsOf(
  spec: TiffSpec,
  image: TiffImageSpec,
  isMain: boolean,
  blocks: readonly Uint8Array[],
  places: readonly number[],
): Tag[] {
  const [first] = image.bands;
  const bits = image.oneBit === true ? 1 : (first?.BYTES_PER_ELEMENT ?? 1) * 8;
  const count = Math.max(1, image.bands.length);
  const format =
    first instanceof Float32Array || first instanceof Float64Array
      ? 3
      : first instanceof Int16Array
        ? 2
        : 1;
  const short = (id: number, ...values: number[]): Tag => ({ id, type: 3, values });
  const long = (id: number, ...values: number[]): Tag => ({ id, type: 4, values });
  const double = (id: number, ...values: number[]): Tag => ({ id, type: 12, values });
  const tags = [
    long(254, image.kind ?? 0),
    long(256, image.width),
    long(257, image.height),
    short(258, ...Array.from({ length: count }, () => bits)),
    short(259, image.encoded?.compression ?? (image.compression === "none" ? 1 : 8)),
    short(262, image.photometric ?? (count >= 3 ? 2 : 1)),
    short(277, count),
    short(284, image.isSeparate === true ? 2 : 1),
    short(317, image.predictor ?? 1),
    ...(image.colours === undefined ? [] : [short(320, ...image.colours)]),
    short(322, image.block),
    short(323, image.block),
    long(324, ...places),
    long(
      325,
      ...blocks.map((block, at) => (image.sparse?.includes(at) === true ? 0 : block.length)),
    ),
    ...(image.tables === undefined
      ? []
      : [{ id: 347, type: 7 as const, values: [...image.tables] }]),
    ...(image.hasAlpha === true ? [short(338, 2)] : []),
    short(339, ...Array.from({ length: count }, () => format)),
  ];
  if (isMain) {
    const [width, height] = spec.pixel ?? [1, 1];
    const [x, y] = spec.origin ?? [0, 0];
    tags.push(double(33550, width, height, 0), double(33922, 0, 0, 0, x, y, 0));
    if (spec.epsg !== undefined) {
      const isGeographic = spec.epsg > 4000 && spec.epsg < 5000 && spec.epsg !== 3857;
      const model = [1024, 0, 1, isGeographic ? 2 : 1];
      const code = [isGeographic ? 2048 : 3072, 0, 1, spec.epsg];
      tags.push(short(34735, 1, 1, 0, 2, ...model, ...code));
    }
    if (spec.metadata !== undefined) {
      const values = [...Buffer.from(`${spec.metadata}\0`)];
      tags.push({ id: 42112, type: spec.metadataType ?? 2, values });
    }
    if (spec.subDirectories !== undefined) tags.push(long(330, ...spec.subDirectories));
    if (spec.nodata !== undefined) {
      tags.push({ id: 42113, type: 2, values: [...Buffer.from(`${spec.nodata}\0`)] });
    }
  }
  return tags.toSorted((a, b) => a.id - b.id);
}

function packValues(type: Tag["type"], values: readonly number[], little: boolean): Uint8Array {
  const bytes = new Uint8Array(values.length * sizes[type]);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) {
    if (type === 2 || type === 7) view.setUint8(index, value);
    else if (type === 3) view.setUint16(index * 2, value, little);
    else if (type === 4) view.setUint32(index * 4, value, little);
    else view.setFloat64(index * 8, value, little);
  }
  return bytes;
}

function cutBlocks(image: TiffImageSpec, little: boolean): Uint8Array[] {
  const { width, height, block, bands } = image;
  const planes = image.isSeparate === true ? bands.map((band) => [band]) : [bands];
  const made: Uint8Array[] = [];
  for (const plane of planes) {
    for (let top = 0; top < height; top += block) {
      for (let left = 0; left < width; left += block) {
        const values = cut(plane, { left, top, width, height, block });
        const bytes =
          image.oneBit === true
            ? packBits(values, block)
            : difference(values, image, plane.length, little);
        made.push(image.compression === "none" ? bytes : deflateSync(bytes));
      }
    }
  }
  return made;
}

function cut(
  plane: readonly Numbers[],
  {
    left,
    top,
    width,
    height,
    block,
  }: Record<"left" | "top" | "width" | "height" | "block", number>,
): Numbers {
  const [first] = plane;
  const values = new (first!.constructor as new (length: number) => Numbers)(
    block * block * plane.length,
  );
  for (let y = 0; y < block && top + y < height; y++) {
    for (let x = 0; x < block && left + x < width; x++) {
      for (const [index, band] of plane.entries()) {
        values[(y * block + x) * plane.length + index] = band[(top + y) * width + left + x]!;
      }
    }
  }
  return values;
}

function difference(
  values: Numbers,
  image: TiffImageSpec,
  stride: number,
  little: boolean,
): Uint8Array {
  const size = values.BYTES_PER_ELEMENT;
  const row = image.block * stride;
  if (image.predictor === 2) {
    const whole =
      size === 1
        ? new Uint8Array(values.buffer)
        : size === 2
          ? new Uint16Array(values.buffer)
          : new Uint32Array(values.buffer);
    for (let start = 0; start < whole.length; start += row) {
      for (let at = start + row - 1; at >= start + stride; at--)
        whole[at] = whole[at]! - whole[at - stride]!;
    }
  }
  const bytes = new Uint8Array(values.buffer);
  if (image.predictor === 3) {
    const made = new Uint8Array(bytes.length);
    for (let start = 0; start < values.length; start += row) {
      for (let at = 0; at < row; at++) {
        for (let part = 0; part < size; part++) {
          made[start * size + (size - 1 - part) * row + at] = bytes[(start + at) * size + part]!;
        }
      }
      for (let at = (start + row) * size - 1; at >= start * size + stride; at--) {
        made[at] = made[at]! - made[at - stride]!;
      }
    }
    return made;
  }
  if (little || size === 1) return bytes;
  const swapped = Buffer.from(bytes);
  return size === 2 ? swapped.swap16() : size === 4 ? swapped.swap32() : swapped.swap64();
}

function packBits(values: Numbers, block: number): Uint8Array {
  const rowBytes = Math.ceil(block / 8);
  const bytes = new Uint8Array(rowBytes * block);
  for (let y = 0; y < block; y++) {
    for (let x = 0; x < block; x++) {
      if (values[y * block + x] !== 0) bytes[y * rowBytes + (x >> 3)]! |= 0x80 >> (x & 7);
    }
  }
  return bytes;
}
