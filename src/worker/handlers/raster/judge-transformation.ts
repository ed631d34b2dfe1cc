/** Asks PROJ how it would transform a raster to WGS 84, and tells which grids it lacks for that. */
import { horizontalWkt, meaningOf } from "../../../core/raster/crs.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import { makeFinding } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { place } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { findTransformation, warnOfTransformation } from "../assess-transformation.ts";

/** Datums that need no grid to WGS 84 on a map, and those without a name. */
const modern =
  /^(?:worldgeodeticsystem1984|europeanterrestrialreferencesystem1989|northamericandatum1983|unknown.*|)$/;
/** Ellipsoids of datums that lie a hundred metres and more off WGS 84. */
const old = /bessel|clarke|airy|krass|international|intl|everest|hayford/;

export async function judgeTransformation(
  context: HandlerContext,
  { transform, width, height, crs: own }: InspectedRaster,
  given: RasterCrs | null,
): Promise<RasterFinding[]> {
  const crs = own ?? given;
  if (crs === null || transform === null) return [];
  const { datum = "" } = meaningOf(crs) ?? {};
  if (datum.startsWith("unknown") && old.test(datum)) {
    const text = `It names no datum, only an ellipsoid that is not that of WGS 84: places may be wrong by hundreds of metres.`;
    return [makeFinding("TRANSFORMATION_UNKNOWN", text)];
  }
  if (modern.test(datum)) return [];
  const definition = crs.code ?? horizontalWkt(crs.wkt2);
  const [x, y] = place(transform, width / 2, height / 2);
  const warning = warnOfTransformation(await findTransformation(context, definition, [x, y]));
  return warning === undefined ? [] : [makeFinding(warning.code, warning.text)];
}
