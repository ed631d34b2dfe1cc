import { TiffError, buffered, storageSource } from "../../../adapters/cog/byte-source.ts";
import { readTiffStructure } from "../../../adapters/cog/read-tiff-structure.ts";
import type { DescribedRaster, RasterFile } from "../../../core/catalogue/raster-item.ts";
import { detectRasterType } from "../../../core/raster/detect-type.ts";
import type { RasterFacts } from "../../../core/raster/facts.ts";
import { validateCog } from "../../../core/raster/validate-cog.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashFile } from "../hash-content.ts";
import { inspectRaster } from "../raster/inspect.ts";
import { openSource } from "../raster/open-source.ts";
import { RasterRejected } from "../raster/plan-source.ts";

/** Describing a raster starts programs of GDAL, and a list may have thousands of files. */
export const rastersAtOnce = 4;

export interface GivenFile {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
  readonly facts?: RasterFacts | null | undefined;
}

export interface StoredRaster extends RasterFile {
  readonly written_at: string;
}

/**
 * Describes a raster in storage: by the `facts` of the node that wrote it, or by reading the file.
 */
export async function describeRaster(
  context: HandlerContext,
  { blob_path, container, facts }: GivenFile,
): Promise<StoredRaster> {
  const source = await context.sources.resolve(blob_path, container ?? undefined);
  const path = source.display;
  if (source.kind !== "storage") {
    throw new PermanentError(`Only files in storage can be catalogued, and "${path}" is not.`, {
      code: "NOT_IN_STORAGE",
    });
  }
  const stored = await context.storage.head(path);
  if (stored === undefined) {
    throw new PermanentError(`There is nothing at "${path}" in storage.`, {
      code: "NOT_IN_STORAGE",
    });
  }
  const common = { path, bytes: stored.bytes, written_at: stored.modified_at };
  if (facts != null) {
    if (facts.bytes !== stored.bytes) {
      throw new PermanentError(
        `"${path}" has ${stored.bytes} bytes, and the node that wrote it says ${facts.bytes}.`,
        { code: "FILE_CHANGED" },
      );
    }
    return { ...common, is_cog: true, facts };
  }
  const { file, original } = await openSource(context, { blob_path, container, isServed: true });
  const [read, checksum, isCog] = await Promise.all([
    readInfo(context, file, path),
    hashFile(original, context.signal),
    checkCog(context, path),
  ]);
  return { ...common, is_cog: isCog, facts: { ...read, checksum } };
}

export async function readInfo(
  context: HandlerContext,
  file: string,
  path: string,
): Promise<DescribedRaster> {
  const options = { display: path, reads: false, samples: false };
  const inspection = await inspectRaster(context, file, options);
  if (inspection.raster === undefined) throw new RasterRejected(path, inspection.findings);
  const info = inspection.raster;
  if (info.crs === null || info.transform === null) {
    throw new PermanentError(
      `"${path}" has no place on the map: it has no coordinate reference system or no transform. Process it with raster_ingest first, with source_crs.`,
      { code: "CRS_MISSING" },
    );
  }
  const { width, height, crs, transform, bands, sampling, datetime, hasPalette } = info;
  const raster_type = detectRasterType(bands, hasPalette);
  return { width, height, crs, transform, bands: [...bands], sampling, datetime, raster_type };
}

/** Checks the structure of the file; blocks are not decoded. */
async function checkCog({ storage }: HandlerContext, path: string): Promise<boolean> {
  try {
    const structure = await readTiffStructure(buffered(await storageSource(storage, path)));
    const exists = async (name: string) => (await storage.head(name)) !== undefined;
    const sidecars = { overviews: await exists(`${path}.ovr`), mask: await exists(`${path}.msk`) };
    return validateCog(structure, sidecars).valid;
  } catch (error) {
    if (error instanceof TiffError) return false;
    throw error;
  }
}
