import { z } from "zod";
import type { GdalSettings } from "./create-gdal.ts";

/** What can be set about GDAL; a config spreads it into its own. */
export const gdalOptions = {
  GDAL_BIN_DIR: z.string().startsWith("/", "must be an absolute path").optional(),
  /** Where they are looked for otherwise. */
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
