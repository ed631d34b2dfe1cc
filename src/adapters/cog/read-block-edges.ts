import type { TiffImage, TiffStructure } from "../../core/raster/tiff-structure.ts";
import type { ByteSource } from "./byte-source.ts";

/**
 * The four bytes before each block and the eight around its end. In a COG that keeps its promises
 * the next leader follows, so that one read of twelve bytes usually serves two blocks.
 */
export async function readBlockEdges(
  source: ByteSource,
  structure: TiffStructure,
): Promise<TiffStructure> {
  const [main, ...others] = structure.images;
  const images: [TiffImage, ...TiffImage[]] = [await withEdges(source, main)];
  for (const image of others) images.push(await withEdges(source, image));
  return { ...structure, images };
}

async function withEdges(source: ByteSource, image: TiffImage): Promise<TiffImage> {
  const count = image.block_offsets.length;
  const leaders = new Float64Array(count).fill(-1);
  const trailers = new Uint8Array(count);
  let ahead: { at: number; value: number } | undefined;
  for (let index = 0; index < count; index++) {
    const offset = image.block_offsets[index] ?? 0;
    const bytes = image.block_bytes[index] ?? 0;
    if (offset < 4 || bytes === 0 || offset + bytes > source.size) continue;
    leaders[index] =
      ahead?.at === offset - 4 ? ahead.value : readUint32(await source.read(offset - 4, 4), 0);
    const end = offset + bytes;
    const around = await source.read(Math.max(0, end - 4), 12);
    trailers[index] = isRepeated(around) ? 1 : 0;
    ahead = around.length === 12 ? { at: end + 4, value: readUint32(around, 8) } : undefined;
  }
  return { ...image, edges: { leaders, trailers } };
}

function isRepeated(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && [0, 1, 2, 3].every((index) => bytes[index] === bytes[index + 4]);
}

/** Little-endian whatever the file is: so the layout says. */
function readUint32(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + 4) return -1;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
}
