/**
 * Inspects a raster file, cheapest step first: its size, its first bytes, its TIFF directories,
 * GDAL's description, and last every block. Each step may end the inspection with findings.
 */
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { findStatistics } from "../../../adapters/cog/find-statistics.ts";
import { inspectCog } from "../../../adapters/cog/inspect-cog.ts";
import { checkRasterFile } from "../../../adapters/files/check-raster-file.ts";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { hidePaths } from "../../../adapters/runtime/redact.ts";
import type { RasterBand } from "../../../core/raster/facts.ts";
import { dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { judgeHeader } from "../../../core/raster/header.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import { hasServableBlocks } from "../../../core/raster/tiff-structure.ts";
import { maskedVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { decodeByGdal, sampleOf, startDecoding, statisticsOf } from "./decode-blocks.ts";
import type { Decoded, Decoding } from "./decode-blocks.ts";
import { describeFile } from "./describe-file.ts";
import { finiteStatistics } from "./finite-statistics.ts";
import { rewriteSource } from "./rewrite-source.ts";
import { reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";
import { blankStatistics } from "./strip-statistics.ts";
import { takeSample } from "./take-sample.ts";

export type Inspection =
  | { readonly raster: InspectedRaster }
  | { readonly raster: undefined; readonly findings: readonly RasterFinding[] };

export interface InspectOptions {
  /** The name in messages, instead of the file's path on this machine. */
  readonly display: string;
  /** True: every block is read, to find damage and to compute statistics. */
  readonly reads: boolean;
  /** False: no sample of the pixels is taken. A function decides by the bands. */
  readonly samples?: boolean | ((bands: readonly RasterBand[]) => boolean);
  /** True: a virtual raster that this task has made over files that it wrote. */
  readonly isOurs?: boolean;
}

export async function inspectRaster(
  context: HandlerContext,
  file: string,
  { display, reads, samples = true, isOurs = false }: InspectOptions,
): Promise<Inspection> {
  const refuse = (...findings: RasterFinding[]): Inspection => ({ raster: undefined, findings });
  const cheap = isOurs ? virtualFile : await inspectBytes(context, file, display);
  if (cheap.driver === undefined) return refuse(...cheap.findings);
  const input = { file, driver: cheap.driver };
  // The blocks of a TIFF that claims no statistics are read while GDAL describes it.
  const isPlain = input.driver === "GTiff" && (await findStatistics(file)).length === 0;
  const decoding = reads && isPlain ? await startDecoding(context, input) : undefined;
  decoding?.decoded.catch(() => undefined);
  const shown = await describe(context, input, display);
  if (shown.info === undefined) {
    await Promise.allSettled([decoding?.decoded]);
    return refuse(shown.finding);
  }
  const claims = shown.info.bands.some(({ statistics }) => statistics !== null);
  const bands = shown.info.bands.map((band) => ({ ...band, statistics: null }));
  const raster = { ...shown.info, ...cheap.facts, bands, readErrors: [] };
  if (!(typeof samples === "boolean" ? samples : samples(bands))) return { raster };
  if (!reads) return { raster: await withSample(context, input, raster) };
  const [read, sampled] = await Promise.all([
    claims
      ? readRewritten(context, input, display, raster)
      : readBlocks(context, input, display, raster, decoding?.decoded),
    withSample(context, input, raster, decoding),
  ]);
  if (read.readErrors.length > 0) return { raster: read };
  const both = read.bands.map((band, index) => ({
    ...band,
    sample: sampled.bands[index]?.sample ?? band.sample,
  }));
  return { raster: { ...read, bands: both } };
}

type Facts = Pick<InspectedRaster, "bytes" | "isCog" | "isWholeCog" | "lacksPalette">;

/** Without a driver the file is refused, and GDAL does not see it. */
type CheapInspection =
  | { readonly driver: string; readonly facts: Facts }
  | { readonly driver: undefined; readonly findings: readonly RasterFinding[] };

const virtualFile: CheapInspection = {
  driver: "VRT",
  facts: { bytes: 0, isCog: false, isWholeCog: false, lacksPalette: false },
};

async function inspectBytes(
  { gdal }: HandlerContext,
  file: string,
  display: string,
): Promise<CheapInspection> {
  const { size: bytes } = await stat(file);
  const facts = { bytes, isCog: false, isWholeCog: false, lacksPalette: false };
  const refuse = (...findings: RasterFinding[]) => ({ driver: undefined, findings });
  if (bytes === 0) return refuse(makeFinding("FILE_EMPTY", `"${display}" has no bytes.`));
  const { driver, content, problem } = await checkRasterFile(file);
  if (driver === undefined) {
    const text = `"${display}" is ${content}, and not a raster file of a supported format.`;
    return refuse(makeFinding("INVALID_FORMAT", text));
  }
  if (problem !== undefined) return refuse(makeFinding("EXTERNAL_REFERENCE", problem.message));
  if (!gdal.capabilities.rasterDrivers.includes(driver)) {
    const text = `It is ${content}, which this worker's GDAL (${gdal.engine} ${gdal.version}) does not read.`;
    return refuse(makeFinding("FORMAT_NOT_SUPPORTED", text));
  }
  if (driver !== "GTiff") return { driver, facts };
  const cog = await inspectCog(file);
  if (cog.structure === undefined) {
    const [problem] = cog.errors;
    const code = problem?.code === "TIFF_TOO_LARGE" ? "HEADER_IMPLAUSIBLE" : "FILE_CORRUPTED";
    return refuse(makeFinding(code, problem?.message ?? "Its header cannot be read."));
  }
  const findings = judgeHeader(cog.structure);
  if (findings.length > 0) return refuse(...findings);
  const [main] = cog.structure.images;
  const isServable = main.is_tiled && hasServableBlocks(cog.structure);
  const isWholeCog = cog.valid && cog.warnings.length === 0 && isServable;
  const lacksPalette = main.photometric === paletteColours && !main.has_color_map;
  return { driver, facts: { bytes, isCog: cog.valid, isWholeCog, lacksPalette } };
}

/** TIFF's number for pixels that are numbers of colours. */
const paletteColours = 3;

type Info = NonNullable<ReturnType<typeof parseGdalInfo>>;

async function describe(
  context: HandlerContext,
  input: RasterInput,
  display: string,
): Promise<{ info: Info } | { info: undefined; finding: RasterFinding }> {
  try {
    const info = parseGdalInfo(await describeFile(context, input));
    if (info !== undefined && info.bands.length > 0) return { info };
    const text = `"${display}" holds no raster bands that GDAL can read.`;
    return { info: undefined, finding: makeFinding("INVALID_FORMAT", text) };
  } catch (error) {
    if (!(error instanceof GdalError)) throw error;
    return { info: undefined, finding: toFinding(error, input.file, display) };
  }
}

function toFinding(error: GdalError, file: string, display: string): RasterFinding {
  const words = withoutPath(error.message, file, display);
  if (error.category === "transient") throw error;
  return error.code === "UNSUPPORTED_CODEC"
    ? makeFinding("CODEC_NOT_SUPPORTED", `Its compression cannot be read here (${words}).`)
    : makeFinding("FILE_CORRUPTED", `It cannot be opened (${words}).`);
}

/** A format other than TIFF keeps statistics where they cannot be blanked. */
async function readRewritten(
  context: HandlerContext,
  input: RasterInput,
  display: string,
  raster: InspectedRaster,
): Promise<InspectedRaster> {
  const ours = await rewriteSource(context, input, raster);
  await blankStatistics(ours.file);
  return readBlocks(context, ours, display, raster);
}

/** Gives statistics of every band, and finds the damage that only decoding shows. */
async function readBlocks(
  context: HandlerContext,
  input: RasterInput,
  display: string,
  raster: InspectedRaster,
  decoding: Promise<Decoded> = decodeByGdal(context, input),
): Promise<InspectedRaster> {
  const { file } = input;
  try {
    const decoded = await decoding;
    const bands = statisticsOf(decoded, raster);
    const read =
      bands === undefined
        ? await readPrinted(context, input, display, raster, decoded)
        : { ...raster, bands, readErrors: [] };
    const isMasked = raster.transparency === "alpha" || raster.transparency === "mask";
    const isWhole = read.readErrors.length === 0;
    return isWhole && isMasked ? await leaveOutMasked(context, input, read) : read;
  } catch (error) {
    if (!(error instanceof GdalError) || error.category === "transient") throw error;
    return { ...raster, readErrors: errorsIn(error.lines.join("\n"), file, display, true) };
  }
}

/** Reads the statistics that GDAL has printed, and its errors. */
async function readPrinted(
  context: HandlerContext,
  input: RasterInput,
  display: string,
  raster: InspectedRaster,
  decoded: Decoded,
): Promise<InspectedRaster> {
  const byGdal = decoded.blocks === undefined ? decoded : await decodeByGdal(context, input);
  const { stdout, stderr } = byGdal.printed;
  const readErrors = errorsIn(stderr, input.file, display);
  const found = parseGdalInfo(stdout)?.bands ?? raster.bands;
  const hasInfinite = /"(?:STATISTICS_\w+|m\w+)":\s*"?[-+]?inf/i.test(stdout);
  const bands = await Promise.all(
    found.map(async (band, index) => {
      const isBlank = band.statistics === null && band.data_type.startsWith("float");
      if (!isBlank || !hasInfinite || readErrors.length > 0) return band;
      return { ...band, statistics: await finiteStatistics(context, input, raster, index) };
    }),
  );
  return { ...raster, bands, readErrors };
}

/** GDAL's statistics count masked pixels, so they are computed once more without those. */
async function leaveOutMasked(
  context: HandlerContext,
  input: RasterInput,
  raster: InspectedRaster,
): Promise<InspectedRaster> {
  const isOurs = input.driver === "VRT" || input.file.startsWith(context.workDir + path.sep);
  const ours = isOurs ? input : await rewriteSource(context, input, raster);
  const alpha = raster.bands.findIndex(({ color }) => color === "alpha");
  // Alpha is usually the last band, and needs no statistics of its own.
  const isLast = alpha === raster.bands.length - 1;
  const count = isLast ? alpha : raster.bands.length;
  const file = temporaryFile(context, "masked.vrt");
  await writeFile(file, maskedVrt(ours.file, raster, count));
  const options = reading(context, { file, driver: "VRT" });
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", "-stats", file], options);
  const found = parseGdalInfo(stdout)?.bands ?? [];
  const bands = raster.bands.map((band, index) =>
    index < count && index !== alpha
      ? { ...band, statistics: found[index]?.statistics ?? null }
      : band,
  );
  return { ...raster, bands };
}

/**
 * Errors of GDAL that are no damaged block: a band without a valid pixel has no statistics, and the
 * corners of a local system or of a picture of the globe have no longitude and latitude.
 */
const notDamage =
  /no valid pixels found|^ERROR \d+: PROJ: |projection domain|coordinate (?:operation|transformation)|tolerance condition error|proj_/i;

function errorsIn(stderr: string, file: string, display: string, hasFailed = false): string[] {
  const lines = stderr
    .split("\n")
    .filter((line) => /^(?:ERROR|FAILURE)\b/.test(line) && !notDamage.test(line))
    .map((line) => withoutPath(line.replace(/^ERROR \d+: /, ""), file, display));
  const unique = [...new Set(lines)];
  return unique.length === 0 && hasFailed ? ["GDAL could not read it"] : unique;
}

function withoutPath(text: string, file: string, display: string): string {
  return text.split(file).map(hidePaths).join(display);
}

async function withSample(
  context: HandlerContext,
  input: RasterInput,
  raster: InspectedRaster,
  decoding?: Decoding,
): Promise<InspectedRaster> {
  const data = dataBands(raster.bands);
  const isPlainImage =
    data.length >= 3 && raster.bands.every(({ data_type }) => data_type === "uint8");
  // A sample serves stretching and the detection of classes; images of bytes need neither.
  if (isPlainImage) return raster;
  const taken = decoding && (await sampleOf(decoding, raster));
  return { ...raster, bands: taken ?? (await takeSample(context, input, raster)) };
}
