import { writeFile } from "node:fs/promises";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import { probeVrt } from "../../../core/raster/vrt.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { runGdal } from "./run-gdal.ts";
import { temporaryFile } from "./temporary.ts";

/** A text for a CRS as GDAL understands it, so that two of them can be compared by meaning. */
export async function readCrs(context: HandlerContext, given: string): Promise<RasterCrs> {
  const file = temporaryFile(context, "crs.vrt");
  await writeFile(file, probeVrt(given));
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", file]).catch(() => ({
    stdout: "",
  }));
  const crs = parseGdalInfo(stdout)?.crs ?? null;
  if (crs !== null) return crs;
  throw new PermanentError(
    `"${given.slice(0, 200)}" is no CRS that is known here. Give a code such as EPSG:32618, a PROJ string or WKT.`,
    { code: "CRS_NOT_UNDERSTOOD" },
  );
}

export async function readOptionalCrs(
  context: HandlerContext,
  given: string | null | undefined,
): Promise<RasterCrs | null> {
  return given == null ? null : readCrs(context, given);
}
