/**
 * Writes a raster of signed bytes in 16 bits where GDAL has no such type (before 3.7): it would take -1 for
 * 255 in overviews and in copies for web maps.
 */
import { readFile, writeFile } from "node:fs/promises";
import { TiffError, withFile } from "../../../adapters/cog/byte-source.ts";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { readTiffStructure } from "../../../adapters/cog/read-tiff-structure.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import { signedBytesVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { plainOptions, rewriteSource } from "./rewrite-source.ts";
import { describeGrid, reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput, Unpacked } from "./run-gdal.ts";

/** TIFF's number for signed integers. */
const signed = 2;

/** Undefined: its samples are no signed bytes, or GDAL reads them. */
export async function widenSignedBytes(
  context: HandlerContext,
  source: RasterInput,
): Promise<Unpacked | undefined> {
  const [major = 0, minor = 0] = context.gdal.version.split(".").map(Number);
  if (major > 3 || minor >= 7) return undefined;
  const isSigned =
    source.driver === "GTiff"
      ? await hasSignedBytes(source.file)
      : source.driver === "HFA" && (await hasSignedBands(context, source));
  if (!isSigned) return undefined;
  const plain = await rewriteSource(context, source, await describeGrid(context, source));
  const described = temporaryFile(context, "bytes.vrt");
  const toVirtual = ["-q", "-of", "VRT", plain.file, described];
  await runGdal(context, "gdal_translate", toVirtual, reading(context, plain, "VRT"));
  const virtual = { file: temporaryFile(context, "signed.vrt"), driver: "VRT" };
  await writeFile(virtual.file, signedBytesVrt(await readFile(described, "utf8")));
  const file = temporaryFile(context, "widened.tif");
  const args = ["-q", "-of", "GTiff", ...plainOptions, virtual.file, file];
  await runGdal(context, "gdal_translate", args, reading(context, virtual, "GTiff"));
  const text = "Its samples are signed bytes; they are stored in 16 bits.";
  return { file, findings: [makeFinding("SAMPLE_SIZE", text)], sampleType: "int8" };
}

/** GDAL marks the bands of Erdas Imagine; a format without signed bytes is not asked. */
async function hasSignedBands(context: HandlerContext, source: RasterInput): Promise<boolean> {
  try {
    const { bands } = await describeGrid(context, source);
    return bands.some(({ data_type }) => data_type === "int8");
  } catch (error) {
    // The inspection that follows says what is wrong with the file.
    if (error instanceof GdalError && error.category === "permanent") return false;
    throw error;
  }
}

async function hasSignedBytes(file: string): Promise<boolean> {
  try {
    const { images } = await withFile(file, readTiffStructure);
    return images[0].bits_per_sample === 8 && images[0].sample_format === signed;
  } catch (error) {
    // The checks of its structure refuse it with their reason.
    if (error instanceof TiffError) return false;
    throw error;
  }
}
