/**
 * Runs GDAL within a task of a raster handler, and asks it for grids and coordinate reference
 * systems.
 */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import type { GdalOutput, GdalProgram } from "../../../adapters/gdal/gdal.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import { probeVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

interface RunOptions {
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
  const { progress, env } = options;
  return context.gdal.run(program, args, {
    workDir: context.workDir,
    signal: context.signal,
    ...(env === undefined ? {} : { env }),
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
export async function describeGrid(context: HandlerContext, file: string) {
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", file]);
  const info = parseGdalInfo(stdout);
  if (info === undefined) throw new Error("gdalinfo does not describe the raster that GDAL made.");
  return info;
}

/** Parses a CRS (code, PROJ string, WKT) with GDAL, so that two can be compared by meaning. */
export async function readCrs(context: HandlerContext, given: string): Promise<RasterCrs> {
  const file = temporaryFile(context, "crs.vrt");
  await writeFile(file, probeVrt(given));
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", file]).catch(() => ({
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
