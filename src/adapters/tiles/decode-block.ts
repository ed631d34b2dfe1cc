/**
 * Decodes one block of a TIFF to samples. libvips decodes JPEG and WebP, unpack-block.ts the other
 * compressions, whose predictors to-samples.ts undoes.
 */
import { Compression, TiffTag } from "@cogeotiff/core";
import type { TiffImage } from "@cogeotiff/core";
import sharp from "sharp";
import { Problem } from "../../core/errors.ts";
import { largestServedBlock } from "../../core/raster/tiff-structure.ts";
import type { Samples } from "../../core/serving/resample.ts";
import type { BlockShape } from "./to-samples.ts";
import { toSamples } from "./to-samples.ts";
import { unpackBlock } from "./unpack-block.ts";

export function refuseLarge(bytes: number): void {
  if (bytes <= largestServedBlock) return;
  throw new Problem(
    "LAYER_UNREADABLE",
    "The blocks of the layer's file are too large to be shown.",
  );
}

export async function decodeBlock(
  image: TiffImage,
  bytes: ArrayBuffer,
  shape: BlockShape,
): Promise<Samples> {
  const compression = image.value(TiffTag.Compression) ?? Compression.None;
  const expected = shape.width * shape.height * shape.samples * shape.sampleBytes;
  refuseLarge(expected);
  if (compression === Compression.Jpeg || compression === Compression.Webp) {
    return unlessDamaged(decodePicture(bytes, shape));
  }
  const decoded = await unlessDamaged(unpackBlock(image, compression, bytes, expected));
  const whole = pad(decoded, expected);
  return toSamples(whole, image.value(TiffTag.Predictor), shape);
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
  refuseLarge(width * height);
  const expected = rowBytes * height;
  const packed = pad(
    await unlessDamaged(unpackBlock(image, compression, bytes, expected)),
    expected,
  );
  const mask = new Uint8Array(width * height);
  if (packed.every((byte) => byte === 255)) return mask.fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x += 8) {
      const byte = packed[y * rowBytes + (x >> 3)] ?? 0;
      const [start, end] = [y * width + x, y * width + Math.min(x + 8, width)];
      // Most bytes of a mask are all data or all holes.
      if (byte === 255) mask.fill(255, start, end);
      else if (byte !== 0) {
        for (let at = start; at < end; at++) mask[at] = (byte >> (7 - (at - start))) & 1 ? 255 : 0;
      }
    }
  }
  return mask;
}

/** A block that no codec can read is the file's fault, and not the server's. */
async function unlessDamaged<Decoded>(decoding: Promise<Decoded>): Promise<Decoded> {
  try {
    return await decoding;
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem("LAYER_UNREADABLE", `A block of the layer's file is damaged: ${reason}.`);
  }
}

async function decodePicture(bytes: ArrayBuffer, shape: BlockShape): Promise<Uint8Array> {
  // A picture that claims more pixels than its block is refused before memory is taken for it.
  const limitInputPixels = shape.width * shape.height;
  const { data, info } = await sharp(Buffer.from(bytes), { failOn: "error", limitInputPixels })
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
