import path from "node:path";
import { z } from "zod";
import { ConfigError } from "../runtime/environment.ts";
import type { Gdal, Unusable } from "./gdal.ts";
import { findSandbox } from "./find-sandbox.ts";
import type { LimitSettings } from "./limits.ts";
import { createNativeGdal, findPrograms } from "./native-gdal.ts";
import { SandboxMissing, describeUnusable, remedy } from "./sandbox-failure.ts";
import { createWasmGdal } from "./wasm-gdal.ts";

export interface GdalSettings {
  /** Folder of the programs; undefined: they are looked for on the search path. */
  readonly binDir?: string | undefined;
  /** Folders, separated as in PATH. */
  readonly searchPath?: string | undefined;
  readonly prefer?: "auto" | "native" | "wasm" | undefined;
  /**
   * require: without bubblewrap or namespaces no file is opened. prefer: the WebAssembly engine is
   * used instead. off: the programs run with the worker's rights.
   */
  readonly sandbox?: "require" | "prefer" | "off" | undefined;
  readonly limits?: LimitSettings | undefined;
}

const usual = "/usr/local/bin:/usr/bin:/bin";

/**
 * Chooses the engine: the installed programs where they are found and can be confined, otherwise
 * WebAssembly. Both give the same pixels; the programs need about a third of the time and read more
 * compressions.
 */
export async function createGdal(settings: GdalSettings = {}): Promise<Gdal> {
  const { binDir, prefer = "auto", searchPath = usual, sandbox: mode = "prefer" } = settings;
  if (prefer === "wasm") return chooseWasm(settings, []);
  const folders = binDir === undefined ? searchPath.split(path.delimiter) : [binDir];
  const programs = await findPrograms(folders.filter((folder) => path.isAbsolute(folder)));
  if (programs === undefined) {
    const reason = `GDAL's programs are not in ${folders.join(", ")}`;
    if (prefer === "native") throw new ConfigError(`${reason}: install gdal-bin.`);
    return chooseWasm(settings, []);
  }
  const wanted = mode === "off" ? (["none"] as const) : kernelSandboxes;
  const { sandbox, unusable } = await findSandbox([...programs.values()], wanted);
  if (sandbox !== undefined) {
    return createNativeGdal(programs, sandbox, { unusable, limits: settings.limits });
  }
  if (prefer === "native" && mode === "prefer") {
    throw new ConfigError(
      `GDAL_ENGINE=native, and no sandbox works here: ${describeUnusable(unusable)}. ${remedy} Or set GDAL_ENGINE=auto, which uses WebAssembly then.`,
    );
  }
  return chooseWasm(settings, unusable);
}

const kernelSandboxes = ["bubblewrap", "namespaces"] as const;

/** WebAssembly, in one of the kernel's sandboxes where that works: `require` accepts no less. */
async function chooseWasm(
  { sandbox: mode = "prefer", limits }: GdalSettings,
  known: readonly Unusable[],
): Promise<Gdal> {
  const isTried = known.length > 0 || mode === "off";
  const { sandbox, unusable } = isTried
    ? { sandbox: undefined, unusable: known }
    : await findSandbox([process.execPath], kernelSandboxes);
  const gdal = createWasmGdal({ sandbox, unusable, limits });
  if (mode !== "require" || sandbox !== undefined) return gdal;
  return {
    ...gdal,
    sandbox: "none",
    run: async () => {
      throw new SandboxMissing(unusable);
    },
  };
}

/** The environment variables of GDAL; a program's config.ts spreads them into its own. */
export const gdalOptions = {
  GDAL_BIN_DIR: z.string().startsWith("/", "must be an absolute path").optional(),
  PATH: z.string().optional(),
  GDAL_ENGINE: z.enum(["auto", "native", "wasm"]).default("auto"),
  GDAL_SANDBOX: z.enum(["require", "prefer", "off"]).default("prefer"),
  GDAL_MEMORY_MB: z.coerce.number().int().min(256).optional(),
  GDAL_CPU_SECONDS: z.coerce.number().int().min(1).optional(),
  GDAL_OUTPUT_MB: z.coerce.number().int().min(1).optional(),
};

export function toGdalSettings(given: {
  readonly GDAL_BIN_DIR?: string | undefined;
  readonly GDAL_ENGINE: GdalSettings["prefer"];
  readonly GDAL_SANDBOX: GdalSettings["sandbox"];
  readonly GDAL_MEMORY_MB?: number | undefined;
  readonly GDAL_CPU_SECONDS?: number | undefined;
  readonly GDAL_OUTPUT_MB?: number | undefined;
  readonly PATH?: string | undefined;
}): GdalSettings {
  return {
    binDir: given.GDAL_BIN_DIR,
    prefer: given.GDAL_ENGINE,
    sandbox: given.GDAL_SANDBOX,
    searchPath: given.PATH,
    limits: {
      memoryMb: given.GDAL_MEMORY_MB,
      cpuSeconds: given.GDAL_CPU_SECONDS,
      outputMb: given.GDAL_OUTPUT_MB,
    },
  };
}
