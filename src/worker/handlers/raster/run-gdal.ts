/**
 * Runs GDAL within a task of a raster handler, and asks it for grids and coordinate reference
 * systems.
 */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import type { GdalOutput, GdalProgram, GdalRunOptions } from "../../../adapters/gdal/gdal.ts";
import type { DataType, RasterCrs } from "../../../core/raster/facts.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import { probeVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

interface RunOptions extends Pick<GdalRunOptions, "sources" | "drivers" | "stdin"> {
  readonly env?: Readonly<Record<string, string>>;
  /** The percentages of the task's progress at which this run starts and ends. */
  readonly progress?: readonly [number, number];
}

/** Runs a program of GDAL in the task's folder; the task's abort signal ends it. */
export function runGdal(
  context: HandlerContext,
  program: GdalProgram,
  args: readonly string[],
  options: RunOptions = {},
): Promise<GdalOutput> {
  const { progress, env, sources = [], drivers, stdin } = options;
  // Files beside a submitted one are none of its own: GDAL does not look for them.
  const alone = sources.length === 0 ? {} : { GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR" };
  return context.gdal.run(program, args, {
    workDir: context.workDir,
    signal: context.signal,
    sources,
    drivers,
    stdin,
    env: { ...alone, ...env },
    ...(progress === undefined
      ? {}
      : {
          onProgress: (percent: number) => {
            const [from, to] = progress;
            context.progress(from + ((to - from) * percent) / 100);
          },
        }),
  });
}

/** A raster, and the only driver that may open it. */
export interface RasterInput {
  readonly file: string;
  readonly driver: string;
}

/** A GeoTIFF of the task that holds what GDAL cannot use in the source as it is. */
export interface Unpacked {
  readonly file: string;
  readonly findings: readonly RasterFinding[];
  /** The type of the source's samples, where they were widened. */
  readonly sampleType?: DataType | undefined;
}

/**
 * The options of a run that reads a raster and writes with the drivers `outputs`. VRT reads the
 * GeoTIFFs that the task has written itself; no submitted file is opened while it is on.
 */
export function reading(
  { workDir }: HandlerContext,
  { file, driver }: RasterInput,
  ...outputs: string[]
): Pick<GdalRunOptions, "sources" | "drivers"> {
  // A warp along a cutline is drawn in memory.
  const drivers = new Set([driver, ...(driver === "VRT" ? ["GTiff", "MEM"] : []), ...outputs]);
  const isInside = file.startsWith(workDir + path.sep);
  return { sources: isInside ? [] : [file], drivers: [...drivers] };
}

/**
 * A path in the task's folder that was never used. The WebAssembly engine caches files by name
 * between runs, so it would read a stale file under a name that is used again.
 */
export function temporaryFile({ workDir }: HandlerContext, name: string): string {
  const { name: stem, ext } = path.parse(name);
  return path.join(workDir, `${stem}_${randomBytes(4).toString("hex")}${ext}`);
}

/**
 * How many threads GDAL may use. The WebAssembly engine has none and would wait for them for ever.
 */
export function threadsOf({ gdal }: HandlerContext): number {
  return gdal.engine === "wasm" ? 1 : availableParallelism();
}

/** Reads the size, transform and CRS of a raster that this task has made. */
export async function describeGrid(context: HandlerContext, input: RasterInput) {
  const args = ["-json", input.file];
  const { stdout } = await runGdal(context, "gdalinfo", args, reading(context, input));
  const info = parseGdalInfo(stdout);
  if (info === undefined) throw new Error("gdalinfo does not describe the raster that GDAL made.");
  return info;
}

/** Parses a CRS (code, PROJ string, WKT) with GDAL, so that two can be compared by meaning. */
export async function readCrs(context: HandlerContext, given: string): Promise<RasterCrs> {
  const file = temporaryFile(context, "crs.vrt");
  await writeFile(file, probeVrt(given));
  const options = reading(context, { file, driver: "VRT" });
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", file], options).catch(() => ({
    stdout: "",
  }));
  const crs = parseGdalInfo(stdout)?.crs ?? null;
  if (crs !== null) return crs;
  throw new PermanentError(
    `"${given.slice(0, 200)}" is not a CRS that GDAL knows. Give a code such as EPSG:32618, a PROJ string or WKT.`,
    { code: "CRS_NOT_UNDERSTOOD" },
  );
}

export async function readOptionalCrs(
  context: HandlerContext,
  given: string | null | undefined,
): Promise<RasterCrs | null> {
  return given == null ? null : readCrs(context, given);
}
