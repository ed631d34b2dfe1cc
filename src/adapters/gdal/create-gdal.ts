import path from "node:path";
import { z } from "zod";
import type { Gdal } from "./gdal.ts";
import { findNativeGdal } from "./native-gdal.ts";
import { createWasmGdal } from "./wasm-gdal.ts";

export interface GdalSettings {
  /** Folder of the programs; undefined: they are looked for on the search path. */
  readonly binDir?: string | undefined;
  /** Folders, separated as in PATH. */
  readonly searchPath?: string | undefined;
  readonly prefer?: "auto" | "native" | "wasm" | undefined;
}

const usual = "/usr/local/bin:/usr/bin:/bin";

/**
 * Chooses the engine: the installed programs where they are found, otherwise WebAssembly. Both give
 * the same pixels; the programs need about a third of the time and read more compressions.
 */
export async function createGdal(settings: GdalSettings = {}): Promise<Gdal> {
  const { binDir, prefer = "auto", searchPath = usual } = settings;
  if (prefer === "wasm") return createWasmGdal();
  const folders = binDir === undefined ? searchPath.split(path.delimiter) : [binDir];
  const native = await findNativeGdal(folders.filter((folder) => path.isAbsolute(folder)));
  if (native !== undefined) return native;
  if (prefer === "auto") return createWasmGdal();
  throw new Error(`GDAL's programs are not in ${folders.join(", ")}: install gdal-bin.`);
}

/** The environment variables of GDAL; a program's config.ts spreads them into its own. */
export const gdalOptions = {
  GDAL_BIN_DIR: z.string().startsWith("/", "must be an absolute path").optional(),
  PATH: z.string().optional(),
  GDAL_ENGINE: z.enum(["auto", "native", "wasm"]).default("auto"),
};

export function toGdalSettings(given: {
  readonly GDAL_BIN_DIR?: string | undefined;
  readonly GDAL_ENGINE: GdalSettings["prefer"];
  readonly PATH?: string | undefined;
}): GdalSettings {
  return { binDir: given.GDAL_BIN_DIR, prefer: given.GDAL_ENGINE, searchPath: given.PATH };
}
