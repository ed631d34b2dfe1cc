import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gdalEnvironment, isRemoteDriver } from "./environment.ts";
import { findSandbox, firstProgram } from "./find-sandbox.ts";
import { gdalPrograms } from "./gdal.ts";
import type { Gdal, GdalProgram, GdalRunOptions, Unusable } from "./gdal.ts";
import { explainLimit, limitsFor } from "./limits.ts";
import type { LimitSettings } from "./limits.ts";
import { hideSecrets } from "../runtime/redact.ts";
import { runProcess } from "./run-process.ts";
import type { Command } from "./run-process.ts";
import { SandboxFailed, isSandboxFailure } from "./sandbox-failure.ts";
import type { Sandbox } from "./sandbox.ts";

type NativePrograms = ReadonlyMap<GdalProgram, string>;

/** The installed programs; undefined when one of the needed programs is missing. */
export async function findPrograms(
  folders: readonly string[],
): Promise<NativePrograms | undefined> {
  const found = new Map<GdalProgram, string>();
  for (const program of gdalPrograms) {
    const file = await firstProgram(folders.map((folder) => path.join(folder, program)));
    if (file !== undefined) found.set(program, file);
  }
  const needed = ["gdalinfo", "gdal_translate", "gdalwarp", "ogr2ogr", "ogrinfo"] as const;
  return needed.every((program) => found.has(program)) ? found : undefined;
}

interface NativeOptions {
  /** Tried in this order. */
  readonly sandboxes?: readonly Sandbox["kind"][];
  readonly limits?: LimitSettings;
}

/** The engine on the programs in these folders, if they are there and a sandbox works. */
export async function findNativeGdal(
  folders: readonly string[],
  { sandboxes, limits }: NativeOptions = {},
): Promise<Gdal | undefined> {
  const programs = await findPrograms(folders);
  if (programs === undefined) return undefined;
  const { sandbox, unusable } = await findSandbox([...programs.values()], sandboxes);
  return sandbox === undefined
    ? undefined
    : createNativeGdal(programs, sandbox, { unusable, limits });
}

export async function createNativeGdal(
  programs: NativePrograms,
  sandbox: Sandbox,
  {
    unusable,
    limits: limitSettings = {},
  }: { readonly unusable: readonly Unusable[]; readonly limits?: LimitSettings | undefined },
): Promise<Gdal> {
  async function runConfined(command: Command, options: GdalRunOptions) {
    const { workDir, sources = [] } = options;
    const limits = await limitsFor(limitSettings, workDir);
    const confined = sandbox.confine(command, { workDir, sources, limits });
    try {
      return await runProcess(confined, options);
    } catch (error) {
      if (isSandboxFailure(error)) throw new SandboxFailed(sandbox.kind, error);
      throw explainLimit(error, limits, limitSettings);
    }
  }

  let installed: readonly string[] = [];
  const run: Gdal["run"] = async (program, args, options) => {
    const file = programs.get(program);
    if (file === undefined) throw new Error(`${program} is not installed.`);
    const env = gdalEnvironment(options, installed);
    const { stdout, stderr } = await runConfined({ program, file, args, env }, options);
    return { stdout, stderr: hideSecrets(stderr) };
  };
  const workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-gdal-"));
  const ask = async (program: GdalProgram, ...args: string[]) =>
    (await run(program, args, { workDir, timeoutMs: 30_000 })).stdout;
  const askAll = async () => {
    try {
      return await Promise.all([
        ask("gdalinfo", "--version"),
        ask("gdalinfo", "--formats"),
        ask("ogrinfo", "--formats"),
        ask("gdalinfo", "--format", "GTiff"),
      ]);
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  };
  const [version, raster, vector, tiff] = await askAll();
  const [rasterDrivers, vectorDrivers] = [readDrivers(raster), readDrivers(vector)];
  installed = [...new Set([...rasterDrivers, ...vectorDrivers])];
  return {
    engine: "native",
    version: /GDAL (\S+?),/.exec(version)?.[1] ?? version.trim(),
    sandbox: sandbox.kind,
    unusable,
    capabilities: {
      rasterDrivers: rasterDrivers.filter((name) => !isRemoteDriver(name)),
      vectorDrivers: vectorDrivers.filter((name) => !isRemoteDriver(name)),
      codecs: readCodecs(tiff),
      programs: [...programs.keys()],
    },
    run,
  };
}

/**
 * Reads the names of the drivers from lines such as `  GTiff -raster- (rw+vs): GeoTIFF (*.tif)`.
 */
export function readDrivers(text: string): string[] {
  return [...text.matchAll(/^ {2}(\S.*?) -[\w, ]+- \([rw]/gm)].map((match) => match[1] ?? "");
}

/**
 * Reads the compressions that the library was built with: the values of the driver's option
 * COMPRESS.
 */
export function readCodecs(description: string): string[] {
  const option = /<Option name=.COMPRESS.[\s\S]*?<\/Option>/.exec(description)?.[0] ?? "";
  return [...option.matchAll(/<Value[^>]*>([^<]+)<\/Value>/g)].map((match) => match[1] ?? "");
}
