import { access } from "node:fs/promises";
import { readPromises } from "../../core/raster/check-cog-blocks.ts";
import type { TiffImage, TiffStructure } from "../../core/raster/tiff-structure.ts";
import type { CogVerdict } from "../../core/raster/validate-cog.ts";
import { validateCog } from "../../core/raster/validate-cog.ts";
import type { ByteSource } from "./byte-source.ts";
import { TiffError, withFile } from "./byte-source.ts";
import { readTiffStructure } from "./read-tiff-structure.ts";

/** Checks every block of a local file. A file that is not a TIFF is not valid either. */
export async function inspectCog(
  file: string,
): Promise<CogVerdict & { readonly structure: TiffStructure | undefined }> {
  try {
    return await withFile(file, async (source) => {
      const read = await readTiffStructure(source);
      const { leaders, trailers } = readPromises(read);
      const structure = leaders || trailers ? await readBlockEdges(source, read) : read;
      const sidecars = {
        overviews: await exists(`${file}.ovr`),
        mask: await exists(`${file}.msk`),
      };
      return { ...validateCog(structure, sidecars), structure };
    });
  } catch (error) {
    if (!(error instanceof TiffError)) throw error;
    const found = { code: error.code, message: error.message };
    return { valid: false, errors: [found], warnings: [], structure: undefined };
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/**
 * Reads the four bytes before each block (its leader) and the eight around its end (its trailer). In
 * a valid COG the leader of the next block follows, so that one read of twelve bytes serves two.
 */
async function readBlockEdges(
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
  for (let first = 0; first < count; first += readsAtOnce) {
    const indexes = Array.from(
      { length: Math.min(readsAtOnce, count - first) },
      (_, each) => first + each,
    );
    const ends = await Promise.all(indexes.map((index) => readEnd(source, image, index)));
    for (const [each, index] of indexes.entries()) {
      const around = ends[each];
      if (around === undefined) continue;
      const [offset, end] = [image.block_offsets[index] ?? 0, endOf(image, index)];
      leaders[index] =
        ahead?.at === offset - 4 ? ahead.value : readUint32(await source.read(offset - 4, 4), 0);
      trailers[index] = isRepeated(around) ? 1 : 0;
      ahead = around.length === 12 ? { at: end + 4, value: readUint32(around, 8) } : undefined;
    }
  }
  return { ...image, edges: { leaders, trailers } };
}

const readsAtOnce = 64;

/** Undefined: the block is empty, or reaches out of the file. */
async function readEnd(
  source: ByteSource,
  image: TiffImage,
  index: number,
): Promise<Uint8Array | undefined> {
  const [offset, end] = [image.block_offsets[index] ?? 0, endOf(image, index)];
  if (offset < 4 || end === offset || end > source.size) return undefined;
  return source.read(Math.max(0, end - 4), 12);
}

function endOf({ block_offsets, block_bytes }: TiffImage, index: number): number {
  return (block_offsets[index] ?? 0) + (block_bytes[index] ?? 0);
}

function isRepeated(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && [0, 1, 2, 3].every((index) => bytes[index] === bytes[index + 4]);
}

/** Leaders are little-endian in every file. */
function readUint32(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + 4) return -1;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
}
