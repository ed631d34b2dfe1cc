/**
 * Decodes one block of a TIFF to samples. libvips decodes JPEG and WebP, zlib's threads deflate, and
 * geotiff the rarer codecs. Predictors are undone here for all of them.
 */
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { Compression, TiffTag } from "@cogeotiff/core";
import type { TiffImage } from "@cogeotiff/core";
import sharp from "sharp";
import { Problem } from "../../core/errors.ts";
import type { Samples } from "../../core/serving/resample.ts";
import type { SampleType } from "./raster-file.ts";

const inflateBytes = promisify(inflate);

export interface BlockShape {
  readonly width: number;
  readonly height: number;
  /** Samples of a pixel in this block: one, if each band has blocks of its own. */
  readonly samples: number;
  readonly sampleType: SampleType;
  readonly sampleBytes: number;
  readonly isLittleEndian: boolean;
}

export async function decodeBlock(
  image: TiffImage,
  bytes: ArrayBuffer,
  shape: BlockShape,
): Promise<Samples> {
  const compression = image.value(TiffTag.Compression) ?? Compression.None;
  if (compression === Compression.Jpeg || compression === Compression.Webp) {
    return decodePicture(bytes, shape);
  }
  const expected = shape.width * shape.height * shape.samples * shape.sampleBytes;
  const decoded = await unpack(image, compression, bytes, expected);
  const whole = pad(decoded, expected);
  const predictor = image.value(TiffTag.Predictor) as number | null;
  if (predictor === 3) {
    const made = undoFloating(whole, shape.width, shape.samples, shape.sampleBytes);
    return viewAs(shape.sampleType, made);
  }
  if (!shape.isLittleEndian) swap(whole, shape.sampleBytes);
  if (predictor === 2) {
    undoHorizontal(viewUnsigned(whole, shape.sampleBytes), shape.width, shape.samples);
  }
  return viewAs(shape.sampleType, whole);
}

/** Decodes a mask of one bit a pixel, as GDAL writes it: a set bit is a valid pixel. */
export async function decodeBits(
  image: TiffImage,
  bytes: ArrayBuffer,
  width: number,
  height: number,
): Promise<Uint8Array> {
  const compression = image.value(TiffTag.Compression) ?? Compression.None;
  const rowBytes = Math.ceil(width / 8);
  const packed = pad(await unpack(image, compression, bytes, rowBytes * height), rowBytes * height);
  const mask = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const bit = ((packed[y * rowBytes + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1;
      mask[y * width + x] = bit === 1 ? 255 : 0;
    }
  }
  return mask;
}

async function unpack(
  image: TiffImage,
  compression: Compression,
  bytes: ArrayBuffer,
  expected: number,
): Promise<Uint8Array> {
  switch (compression) {
    case Compression.None:
      return new Uint8Array(bytes);
    case Compression.Deflate:
    case Compression.DeflateOther: {
      const made = await inflateBytes(bytes, { maxOutputLength: expected + 65_536 });
      return new Uint8Array(made.buffer, made.byteOffset, made.byteLength);
    }
    default:
      return unpackRare(image, compression, bytes);
  }
}

/** Loads the library with the first such file: most platforms never have one. */
async function unpackRare(
  image: TiffImage,
  compression: Compression,
  bytes: ArrayBuffer,
): Promise<Uint8Array> {
  const { getDecoder } = await import("geotiff");
  const parameters = {
    tileWidth: 0,
    tileHeight: 0,
    predictor: 1,
    bitsPerSample: 8,
    planarConfiguration: 1,
    LercParameters: image.value(TiffTag.LercParameters),
  };
  let decoder;
  try {
    decoder = await getDecoder(compression, parameters);
  } catch {
    throw new Problem(
      "LAYER_UNREADABLE",
      `The layer's file is compressed with method ${compression}, which cannot be shown.`,
    );
  }
  return new Uint8Array(await decoder.decode(bytes));
}

async function decodePicture(bytes: ArrayBuffer, shape: BlockShape): Promise<Uint8Array> {
  const { data, info } = await sharp(Buffer.from(bytes), { failOn: "error" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (width === shape.width && height === shape.height && channels === shape.samples) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  // The last strip may have fewer rows, and libvips may give one band as three equal ones.
  const made = new Uint8Array(shape.width * shape.height * shape.samples);
  const [across, down] = [Math.min(width, shape.width), Math.min(height, shape.height)];
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      for (let sample = 0; sample < shape.samples; sample++) {
        made[(y * shape.width + x) * shape.samples + sample] =
          sample < channels ? (data[(y * width + x) * channels + sample] ?? 0) : 255;
      }
    }
  }
  return made;
}

/** Copies to aligned memory of the expected length: the last strip of an image is shorter. */
function pad(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.byteLength === length && bytes.byteOffset % 8 === 0) return bytes;
  const made = new Uint8Array(length);
  made.set(bytes.subarray(0, length));
  return made;
}

function swap(bytes: Uint8Array, size: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (size === 2) buffer.swap16();
  else if (size === 4) buffer.swap32();
  else if (size === 8) buffer.swap64();
}

function viewUnsigned(bytes: Uint8Array, size: number): Uint8Array | Uint16Array | Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (size === 1) return bytes;
  if (size === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  if (size === 4) return new Uint32Array(buffer, byteOffset, byteLength / 4);
  throw new Problem("LAYER_UNREADABLE", "Predictor 2 on samples of 64 bits is not supported.");
}

const arrays = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export function makeSamples(type: SampleType, length: number): Samples {
  return new arrays[type](length);
}

function viewAs(type: SampleType, bytes: Uint8Array): Samples {
  const { buffer, byteOffset, byteLength } = bytes;
  const array = arrays[type];
  return new array(buffer as ArrayBuffer, byteOffset, byteLength / array.BYTES_PER_ELEMENT);
}

/** Predictor 2: turns differences to the pixel before into values. `stride`: samples of a pixel. */
function undoHorizontal(
  samples: Uint8Array | Uint16Array | Uint32Array,
  width: number,
  stride: number,
): void {
  const rowLength = width * stride;
  for (let start = 0; start + rowLength <= samples.length; start += rowLength) {
    const end = start + rowLength;
    // Sums wrap around in a typed array, as they did in the encoder.
    for (let index = start + stride; index < end; index++) {
      samples[index] = (samples[index] ?? 0) + (samples[index - stride] ?? 0);
    }
  }
}

/**
 * Predictor 3: a row stores the first bytes of all floats, then the second bytes and so on, the most
 * significant first whatever the byte order of the file, and all of them as differences.
 */
function undoFloating(
  bytes: Uint8Array,
  width: number,
  stride: number,
  sampleBytes: number,
): Uint8Array {
  const values = width * stride;
  const rowLength = values * sampleBytes;
  const made = new Uint8Array(bytes.length);
  for (let start = 0; start + rowLength <= bytes.length; start += rowLength) {
    for (let index = start + stride; index < start + rowLength; index++) {
      bytes[index] = (bytes[index] ?? 0) + (bytes[index - stride] ?? 0);
    }
    for (let part = 0; part < sampleBytes; part++) {
      const from = start + (sampleBytes - 1 - part) * values;
      for (let value = 0; value < values; value++) {
        made[start + value * sampleBytes + part] = bytes[from + value] ?? 0;
      }
    }
  }
  return made;
}
