import { parseGdalInfo } from "../../../core/raster/parse-info.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runGdal } from "./run-gdal.ts";

/** Size and place of a virtual raster. */
export async function describeGrid(context: HandlerContext, file: string) {
  const { stdout } = await runGdal(context, "gdalinfo", ["-json", file]);
  const info = parseGdalInfo(stdout);
  if (info === undefined) throw new Error("GDAL does not say what it has made.");
  return info;
}
