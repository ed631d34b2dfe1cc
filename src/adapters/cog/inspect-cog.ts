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

/** Leaders are little-endian in every file. */
function readUint32(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + 4) return -1;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
}
