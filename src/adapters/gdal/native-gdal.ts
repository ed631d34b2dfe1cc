import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gdalEnvironment } from "./environment.ts";
import { gdalPrograms } from "./gdal.ts";
import type { Gdal, GdalProgram } from "./gdal.ts";
import { hideSecrets } from "../runtime/logger.ts";
import { runProcess } from "./run-process.ts";

/**
 * The engine on the installed programs, or undefined when one of the needed programs is missing.
 */
export async function findNativeGdal(folders: readonly string[]): Promise<Gdal | undefined> {
  const found = await findPrograms(folders);
  const needed = ["gdalinfo", "gdal_translate", "gdalwarp", "ogr2ogr", "ogrinfo"] as const;
  if (!needed.every((program) => found.has(program))) return undefined;

  // A worker that is killed cannot stop its programs: the kernel then kills them (pdeathsig).
  const prefix = (await isProgram(setpriv)) ? [setpriv, "--pdeathsig", "KILL", "--"] : [];
  const endWithWorker = (program: string, args: readonly string[]) => {
    const [file = program, ...rest] = [...prefix, program, ...args];
    return { file, args: rest };
  };

  const run: Gdal["run"] = async (program, args, options) => {
    const file = found.get(program);
    if (file === undefined) throw new Error(`${program} is not installed.`);
    const env = gdalEnvironment(args, options);
    const output = await runProcess({ program, ...endWithWorker(file, args), env }, options);
    // GDAL repeats signed addresses in its output, which handlers may log or store.
    const isSigned = args.some((arg) => arg.includes("/vsicurl/"));
    const stdout = isSigned ? hideSecrets(output.stdout) : output.stdout;
    return { stdout, stderr: hideSecrets(output.stderr) };
  };
  const ask = async (program: GdalProgram, ...args: string[]) =>
    (await run(program, args, { workDir: tmpdir(), timeoutMs: 30_000 })).stdout;
  const [version, raster, vector, tiff] = await Promise.all([
    ask("gdalinfo", "--version"),
    ask("gdalinfo", "--formats"),
    ask("ogrinfo", "--formats"),
    ask("gdalinfo", "--format", "GTiff"),
  ]);
  return {
    engine: "native",
    version: /GDAL (\S+?),/.exec(version)?.[1] ?? version.trim(),
    capabilities: {
      rasterDrivers: readDrivers(raster),
      vectorDrivers: readDrivers(vector),
      codecs: readCodecs(tiff),
      programs: [...found.keys()],
    },
    run,
  };
}

const setpriv = "/usr/bin/setpriv";

function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function findPrograms(folders: readonly string[]): Promise<Map<GdalProgram, string>> {
  const found = new Map<GdalProgram, string>();
  for (const program of gdalPrograms) {
    for (const folder of folders) {
      const file = path.join(folder, program);
      if (!(await isProgram(file))) continue;
      found.set(program, file);
      break;
    }
  }
  return found;
}

/**
 * Reads the names of the drivers from lines such as `  GTiff -raster- (rw+vs): GeoTIFF (*.tif)`.
 */
export function readDrivers(text: string): string[] {
  return [...text.matchAll(/^ {2}(\S.*?) -[\w,]+- \([rw]/gm)].map((match) => match[1] ?? "");
}

/**
 * Reads the compressions that the library was built with: the values of the driver's option
 * COMPRESS.
 */
export function readCodecs(description: string): string[] {
  const option = /<Option name=.COMPRESS.[\s\S]*?<\/Option>/.exec(description)?.[0] ?? "";
  return [...option.matchAll(/<Value[^>]*>([^<]+)<\/Value>/g)].map((match) => match[1] ?? "");
}
