import { access } from "node:fs/promises";
import { readPromises } from "../../core/raster/check-cog-blocks.ts";
import type { TiffStructure } from "../../core/raster/tiff-structure.ts";
import type { CogVerdict } from "../../core/raster/validate-cog.ts";
import { validateCog } from "../../core/raster/validate-cog.ts";
import { TiffError, withFile } from "./byte-source.ts";
import { readBlockEdges } from "./read-block-edges.ts";
import { readTiffStructure } from "./read-tiff-structure.ts";

/** The verdict on a local file, block by block; a file that is no TIFF at all is not valid either. */
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
