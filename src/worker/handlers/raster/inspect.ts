/**
 * Inspects a raster file, cheapest step first: its size, its first bytes, its TIFF directories,
 * GDAL's description, and last every block. Each step may end the inspection with findings.
 */
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { inspectCog } from "../../../adapters/cog/inspect-cog.ts";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { detectFormat } from "../../../core/raster/format.ts";
import { judgeHeader } from "../../../core/raster/header.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runGdal } from "./run-gdal.ts";
import { takeSample } from "./take-sample.ts";

export type Inspection =
  | { readonly raster: InspectedRaster }
  | { readonly raster: undefined; readonly findings: readonly RasterFinding[] };

export interface InspectOptions {
  /** The name in messages, instead of the file's path on this machine. */
  readonly display: string;
  /** True: every block is read, to find damage and to compute statistics. */
  readonly reads: boolean;
}

export async function inspectRaster(
  context: HandlerContext,
  file: string,
  { display, reads }: InspectOptions,
): Promise<Inspection> {
  const refuse = (...findings: RasterFinding[]): Inspection => ({ raster: undefined, findings });
  const isVirtual = file.startsWith("/vsi") || isOurs(context, file);
  const cheap = isVirtual ? unknownFile : await inspectBytes(file, display);
  if (cheap.findings.length > 0) return refuse(...cheap.findings);
  const shown = await describe(context, file, display);
  if (shown.info === undefined) return refuse(shown.finding);
  const raster = { ...shown.info, ...cheap.facts, readErrors: [] };
  if (!reads) return { raster: await withSample(context, file, raster) };
  const read = await readBlocks(context, file, display, raster);
  return { raster: read.readErrors.length > 0 ? read : await withSample(context, file, read) };
}

/** True for a virtual raster that this task has written itself, over files that were inspected. */
function isOurs({ workDir }: HandlerContext, file: string): boolean {
  return file.startsWith(workDir + path.sep) && file.endsWith(".vrt");
}

interface CheapInspection {
  readonly findings: readonly RasterFinding[];
  readonly facts: Pick<InspectedRaster, "bytes" | "isCog" | "isWholeCog">;
}

/**
 * For a file over the network, which only GDAL reads: `raster.validate` has inspected a local copy.
 */
const unknownFile: CheapInspection = {
  findings: [],
  facts: { bytes: 0, isCog: false, isWholeCog: false },
};

async function inspectBytes(file: string, display: string): Promise<CheapInspection> {
  const { size: bytes } = await stat(file);
  const facts = { bytes, isCog: false, isWholeCog: false };
  const refuse = (...findings: RasterFinding[]) => ({ findings, facts });
  if (bytes === 0) return refuse(makeFinding("FILE_EMPTY", `"${display}" has no bytes.`));
  const format = detectFormat(await readStart(file));
  if (format === undefined) {
    const text = `"${display}" is not a raster file of a supported format.`;
    return refuse(makeFinding("INVALID_FORMAT", text));
  }
  if (format !== "GTiff") return refuse();
  const cog = await inspectCog(file);
  if (cog.structure === undefined) {
    const [problem] = cog.errors;
    const code = problem?.code === "TIFF_TOO_LARGE" ? "HEADER_IMPLAUSIBLE" : "FILE_CORRUPTED";
    return refuse(makeFinding(code, problem?.message ?? "Its header cannot be read."));
  }
  const findings = judgeHeader(cog.structure);
  const [main] = cog.structure.images;
  const isWholeCog = cog.valid && cog.warnings.length === 0 && main.is_tiled;
  return { findings, facts: { bytes, isCog: cog.valid, isWholeCog } };
}

async function readStart(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(16), 0, 16, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

type Info = NonNullable<ReturnType<typeof parseGdalInfo>>;

async function describe(
  context: HandlerContext,
  file: string,
  display: string,
): Promise<{ info: Info } | { info: undefined; finding: RasterFinding }> {
  try {
    const { stdout } = await runGdal(context, "gdalinfo", ["-json", "-norat", "-noct", file]);
    const info = parseGdalInfo(stdout);
    if (info !== undefined && info.bands.length > 0) return { info };
    const text = `"${display}" holds no raster bands that GDAL can read.`;
    return { info: undefined, finding: makeFinding("INVALID_FORMAT", text) };
  } catch (error) {
    if (!(error instanceof GdalError)) throw error;
    return { info: undefined, finding: toFinding(error, file, display) };
  }
}

function toFinding(error: GdalError, file: string, display: string): RasterFinding {
  const words = withoutPath(error.message, file, display);
  if (error.category === "transient") throw error;
  return error.code === "UNSUPPORTED_CODEC"
    ? makeFinding("CODEC_NOT_SUPPORTED", words)
    : makeFinding("FILE_CORRUPTED", `GDAL cannot open it: ${words}`);
}

/** Decodes every block once: gives statistics, and finds the damage that only decoding shows. */
async function readBlocks(
  context: HandlerContext,
  file: string,
  display: string,
  raster: InspectedRaster,
): Promise<InspectedRaster> {
  // With statistics in the file, -stats would read no block; -checksum always does.
  const isComputed = raster.bands.every(({ statistics }) => statistics === null);
  const args = ["-json", "-norat", "-noct", isComputed ? "-stats" : "-checksum", file];
  const env = { GDAL_ERROR_ON_LIBJPEG_WARNING: "TRUE" };
  try {
    const { stdout, stderr } = await runGdal(context, "gdalinfo", args, { env });
    const readErrors = errorsIn(stderr, file, display);
    const info = parseGdalInfo(stdout);
    return { ...raster, bands: (isComputed ? info?.bands : undefined) ?? raster.bands, readErrors };
  } catch (error) {
    if (!(error instanceof GdalError) || error.category === "transient") throw error;
    return { ...raster, readErrors: errorsIn(error.lines.join("\n"), file, display, true) };
  }
}

/** GDAL's error for a band without a valid pixel, which has no statistics: not a damaged block. */
const noValidPixels = /no valid pixels found/i;

function errorsIn(stderr: string, file: string, display: string, hasFailed = false): string[] {
  const lines = stderr
    .split("\n")
    .filter((line) => /^(?:ERROR|FAILURE)\b/.test(line) && !noValidPixels.test(line))
    .map((line) => withoutPath(line.replace(/^ERROR \d+: /, ""), file, display));
  const unique = [...new Set(lines)];
  return unique.length === 0 && hasFailed ? ["GDAL could not read it"] : unique;
}

function withoutPath(text: string, file: string, display: string): string {
  return text.replaceAll(file, display);
}

async function withSample(
  context: HandlerContext,
  file: string,
  raster: InspectedRaster,
): Promise<InspectedRaster> {
  const data = dataBands(raster.bands);
  const isPlainImage =
    data.length >= 3 && raster.bands.every(({ data_type }) => data_type === "uint8");
  // A sample serves stretching and the detection of classes; images of bytes need neither.
  if (isPlainImage) return raster;
  return { ...raster, bands: await takeSample(context, file, raster) };
}
