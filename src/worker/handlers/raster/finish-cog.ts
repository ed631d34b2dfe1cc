/**
 * The last steps of every handler that writes a COG. No later node checks the file again, so it is
 * checked by our own validator, read once from end to end, and compared by hash after the upload.
 */
import { stat } from "node:fs/promises";
import path from "node:path";
import { inspectCog } from "../../../adapters/cog/inspect-cog.ts";
import type { RasterFacts, RasterType } from "../../../core/raster/facts.ts";
import { detectRasterType } from "../../../core/raster/detect-type.ts";
import { boundsOf } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { HandlerError, PermanentError, TransientError } from "../../errors.ts";
import { hashFile } from "../hash-content.ts";
import { inspectRaster } from "./inspect.ts";

const cogMedia = "image/tiff; application=geotiff; profile=cloud-optimized";

/** `inspected`: the same raster without the statistics that a copied file claims about itself. */
export async function finishCog(
  context: HandlerContext,
  file: string,
  destination: string,
  rasterType: RasterType | undefined,
  inspected = file,
) {
  await checkCog(file, destination);
  const read = () => readFacts(context, { file, inspected }, destination, rasterType);
  const facts =
    (await context.storage.head(destination)) === undefined
      ? await storeWhile(read, context, file, destination)
      : await storeAfter(read, context, file, destination);
  return toWritten(destination, facts);
}

type ReadFacts = () => Promise<RasterFacts>;

/** What is at the destination is replaced once the new file has passed its checks. */
async function storeAfter(
  read: ReadFacts,
  context: HandlerContext,
  file: string,
  destination: string,
): Promise<RasterFacts> {
  const facts = await read();
  context.signal.throwIfAborted();
  const stored = await store(context, file, destination, context.signal);
  await compare(context, destination, facts, stored);
  return facts;
}

/**
 * Stores the file while it is read back. A file that fails its checks is removed: the destination is
 * named in the result of the task only, so that no other task knows of it yet.
 */
async function storeWhile(
  read: ReadFacts,
  context: HandlerContext,
  file: string,
  destination: string,
): Promise<RasterFacts> {
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const [reading, storing] = await Promise.allSettled([
    read().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
    store(context, file, destination, signal),
  ]);
  if (reading.status === "rejected") {
    await context.storage.delete(destination);
    throw reading.reason;
  }
  if (storing.status === "rejected") throw storing.reason;
  await compare(context, destination, reading.value, storing.value);
  return reading.value;
}

interface Stored {
  readonly bytes: number | undefined;
  readonly checksum: string;
}

/** Answers what is found at the destination afterwards. */
async function store(
  context: HandlerContext,
  file: string,
  destination: string,
  signal: AbortSignal,
): Promise<Stored> {
  await context.storage.putFile(destination, file, { contentType: cogMedia, signal });
  const stored = await context.storage.head(destination);
  const checksum = await hashFile(await localCopy(context, destination), signal);
  return { bytes: stored?.bytes, checksum };
}

/**
 * Describes the file that is at the destination already. Undefined: none, or a broken one to make
 * again.
 */
export async function readStored(
  context: HandlerContext,
  destination: string,
  rasterType: RasterType | undefined,
) {
  const stored = await context.storage.head(destination);
  if (stored === undefined) return undefined;
  const file = await localCopy(context, destination);
  try {
    await checkCog(file, destination);
    const files = { file, inspected: file };
    return toWritten(destination, await readFacts(context, files, destination, rasterType));
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    context.logger.warn(error.message);
    return undefined;
  }
}

async function localCopy({ storage, workDir, signal }: HandlerContext, destination: string) {
  const local = await storage.localPath(destination);
  if (local !== undefined) return local;
  const file = path.join(workDir, "stored.tif");
  await storage.getFile(destination, file, { signal });
  return file;
}

/** The output of a node for a COG in storage. */
function toWritten(destination: string, facts: RasterFacts) {
  return {
    blob_path: destination,
    container: destination.split("/")[0] ?? "",
    file_size_mb: facts.bytes / 1024 / 1024,
    crs: facts.crs.code ?? facts.crs.wkt2,
    bounds: facts.bounds,
    band_count: facts.bands.length,
    checksum: facts.checksum,
    facts,
  };
}

async function checkCog(file: string, display: string): Promise<void> {
  const errors = (await inspectCog(file)).errors.map(({ message }) => message);
  if (errors.length === 0) return;
  const text = `"${display}" is not a valid Cloud-Optimized GeoTIFF: ${errors.join(" ")}`;
  throw new PermanentError(text, { code: "OUTPUT_NOT_COG", details: { errors } });
}

async function readFacts(
  context: HandlerContext,
  { file, inspected }: { readonly file: string; readonly inspected: string },
  display: string,
  rasterType: RasterType | undefined,
): Promise<RasterFacts> {
  const [inspection, checksum, { size: bytes }] = await Promise.all([
    inspectRaster(context, inspected, { display, reads: true }),
    hashFile(file, context.signal),
    stat(file),
  ]);
  const failed = (why: readonly string[]) =>
    new TransientError(`"${display}" was written and cannot be read back: ${why.join("; ")}`, {
      code: "OUTPUT_CORRUPTED",
    });
  if (inspection.raster === undefined) {
    throw failed(inspection.findings.map(({ message }) => message));
  }
  const { readErrors } = inspection.raster;
  if (readErrors.length > 0) throw failed(readErrors);
  const { gdal } = context;
  return toFacts(inspection.raster, { rasterType, checksum, bytes, gdalVersion: gdal.version });
}

function toFacts(
  raster: InspectedRaster,
  known: {
    readonly rasterType: RasterType | undefined;
    readonly checksum: string;
    readonly bytes: number;
    readonly gdalVersion: string;
  },
): RasterFacts {
  const { crs, transform, width, height } = raster;
  if (crs === null || transform === null) {
    throw new PermanentError("The output has no CRS or no geotransform.", {
      code: "OUTPUT_NOT_COG",
    });
  }
  return {
    width,
    height,
    crs,
    transform,
    bounds: boundsOf({ width, height, transform }),
    bands: [...raster.bands],
    overviews: [...raster.overviews],
    block_size: [...raster.blockSize],
    compression: raster.compression,
    transparency: raster.transparency,
    sampling: raster.sampling,
    raster_type: known.rasterType ?? detectRasterType(raster.bands, raster.hasPalette),
    datetime: raster.datetime,
    ...(raster.timeSpan === null ? {} : { time_span: [...raster.timeSpan] as [string, string] }),
    ...(raster.classes.length === 0 ? {} : { classes: [...raster.classes] }),
    bytes: known.bytes,
    checksum: known.checksum,
    software: { gdal: known.gdalVersion },
  };
}

async function compare(
  { storage }: HandlerContext,
  destination: string,
  { checksum, bytes }: RasterFacts,
  stored: Stored,
): Promise<void> {
  if (stored.bytes === bytes && stored.checksum === checksum) return;
  await storage.delete(destination);
  throw new TransientError(`What is stored at "${destination}" is not what was written.`, {
    code: "CHECKSUM_MISMATCH",
    details: { expected: checksum, found: stored.checksum },
  });
}
