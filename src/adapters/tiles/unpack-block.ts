/**
 * Unpacks the bytes of one block of a TIFF. A block comes from a stranger where a submitted file is
 * served as it is, so no codec gets more memory than the block's pixels need.
 */
import { inflateSync } from "node:zlib";
import { Compression, TiffTag } from "@cogeotiff/core";
import type { TiffImage } from "@cogeotiff/core";
import { Problem } from "../../core/errors.ts";
import { decodeLzw, decodePackBits } from "./decode-lzw.ts";

/** `expected`: the bytes of its pixels. A block that is cut off gives fewer. */
export async function unpackBlock(
  image: TiffImage,
  compression: Compression,
  bytes: ArrayBuffer,
  expected: number,
): Promise<Uint8Array> {
  switch (compression) {
    case Compression.None:
      return new Uint8Array(bytes);
    case Compression.Deflate:
    case Compression.DeflateOther:
      return unpackDeflate(bytes, expected);
    case Compression.Lzw:
      return decodeLzw(new Uint8Array(bytes), expected);
    case Compression.PackBits:
      return decodePackBits(new Uint8Array(bytes), expected);
    case Compression.Zstd:
      return unpackZstd(bytes, expected);
    case Compression.Lerc:
      return unpackLerc(image, bytes, expected);
    default:
      throw new Problem(
        "LAYER_UNREADABLE",
        `The layer's file is compressed with method ${compression}, which cannot be shown.`,
      );
  }
}

/**
 * In the calling thread, which does nothing but read and draw: steps through the thread pool take longer
 * than they save. One chunk holds all of it, where the usual ones have 16 kB.
 */
function unpackDeflate(bytes: ArrayBuffer, most: number): Uint8Array {
  const made = inflateSync(bytes, { maxOutputLength: most + 65_536, chunkSize: most + 64 });
  return new Uint8Array(made.buffer, made.byteOffset, made.byteLength);
}

/** Loaded with the first such file, as LERC is: most platforms never have one. */
async function unpackZstd(bytes: ArrayBuffer, most: number): Promise<Uint8Array> {
  const { ZSTDDecoder } = await import("zstddec");
  const decoder = new ZSTDDecoder();
  await decoder.init();
  const made = decoder.decode(new Uint8Array(bytes), most);
  if (made.length === 0) throw new Error("zstd cannot read it");
  return made;
}

/** The second of LERC's parameters: how its blob is compressed once more. */
const [plain, deflated, zstandard] = [0, 1, 2];

async function unpackLerc(
  image: TiffImage,
  bytes: ArrayBuffer,
  expected: number,
): Promise<Uint8Array> {
  const [version = 0, added = plain] = image.value(TiffTag.LercParameters) ?? [];
  const most = expected + 65_536;
  let blob = new Uint8Array(bytes);
  if (added === deflated) blob = new Uint8Array(unpackDeflate(bytes, most));
  else if (added === zstandard) blob = new Uint8Array(await unpackZstd(bytes, most));
  if (claimedPixels(blob) > expected) {
    throw new Problem("LAYER_UNREADABLE", "A block of the layer's file claims more than its size.");
  }
  const { getDecoder } = await import("geotiff");
  const parameters = {
    tileWidth: 0,
    tileHeight: 0,
    predictor: 1,
    bitsPerSample: 8,
    planarConfiguration: 1,
    LercParameters: [version, plain],
  };
  const decoder = await getDecoder(Compression.Lerc, parameters);
  return new Uint8Array(await decoder.decode(blob.buffer));
}

/** From the header of Lerc2; infinite for other blobs, which GDAL does not write. */
function claimedPixels(blob: Uint8Array): number {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  if (Buffer.from(blob.subarray(0, 6)).toString("latin1") !== "Lerc2 ") return Infinity;
  if (blob.byteLength < 26) return Infinity;
  const version = view.getInt32(6, true);
  // A checksum precedes the size since version 3, and the depth follows it since version 4.
  const at = version >= 3 ? 14 : 10;
  const depth = version >= 4 ? view.getUint32(at + 8, true) : 1;
  return view.getUint32(at, true) * view.getUint32(at + 4, true) * depth;
}
