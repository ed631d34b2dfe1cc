/** Asks PROJ how it would transform a raster to WGS 84, and tells which grids it lacks for that. */
import { horizontalWkt, meaningOf } from "../../../core/raster/crs.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { place } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { readTransformation, tellTransformation } from "../../../core/raster/transformation.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runGdal } from "./run-gdal.ts";

/** Datums that need no grid to WGS 84 on a map. */
const modern =
  /^(?:worldgeodeticsystem1984|europeanterrestrialreferencesystem1989|northamericandatum1983|unknown.*|)$/;

export async function judgeTransformation(
  context: HandlerContext,
  { transform, width, height, crs: own }: InspectedRaster,
  given: RasterCrs | null,
): Promise<RasterFinding[]> {
  const crs = own ?? given;
  if (crs === null || transform === null) return [];
  if (modern.test(meaningOf(crs)?.datum ?? "")) return [];
  const [x, y] = place(transform, width / 2, height / 2);
  const args = ["-s_srs", crs.code ?? horizontalWkt(crs.wkt2), "-t_srs", "OGC:CRS84", "-output_xy"];
  const options = { drivers: [], stdin: `${x} ${y}\n`, env: tellTransformation };
  const { stderr } = await runGdal(context, "gdaltransform", args, options);
  const used = readTransformation(stderr);
  if (used === undefined || used.missing_grids.length === 0) return [];
  const grids = used.missing_grids.slice(0, 5).join(", ");
  const text = `PROJ uses "${used.operation}" to WGS 84; finer operations need grids that are not installed: ${grids}.`;
  return [makeFinding("TRANSFORMATION_GRID_MISSING", text)];
}
