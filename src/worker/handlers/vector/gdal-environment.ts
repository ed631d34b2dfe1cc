import type { GdalRunOptions } from "../../../adapters/gdal/gdal.ts";
import type { HandlerContext } from "../../define-handler.ts";

/** For every run: it ends with the task, and formats that point to other files are switched off. */
export function runOptions(context: HandlerContext): GdalRunOptions {
  return {
    workDir: context.workDir,
    signal: context.signal,
    env: {
      OGR_SKIP: "OGR_VRT",
      OGR_GEOJSON_MAX_OBJ_SIZE: "0",
      // A shapefile without its index is whole: the index is made from it, in the task's own copy.
      SHAPE_RESTORE_SHX: "YES",
    },
  };
}
