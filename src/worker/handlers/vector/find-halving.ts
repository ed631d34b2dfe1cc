/**
 * Finds out whether GDAL transforms from a system to units of two degrees (`half-degrees.ts`). From Web
 * Mercator it has a short way of its own to longitude and latitude, which ignores the unit: it answers
 * with degrees, and cuts nothing.
 */
import { halfDegreesWkt, isInDegrees } from "../../../core/vector/half-degrees.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runOptions } from "./gdal-options.ts";

/** Names and codes of Mercator's projection; the transverse one is another. */
const mercator = /(?<!transverse[ _])merc|EPSG:(?:3857|3785|900913)\b|ESRI:1021\d\d\b/i;
/** The longitude in Web Mercator at 1000 km to the east. */
const degreesAt1000km = 8.983152841195214;

export async function isHalving(crs: string, context: HandlerContext): Promise<boolean> {
  if (isInDegrees(crs)) return false;
  if (!mercator.test(crs)) return true;
  const args = ["-s_srs", crs, "-t_srs", halfDegreesWkt, "-output_xy"];
  const options = { ...runOptions(context, []), stdin: "1000000 1000000\n" };
  const { stdout } = await context.gdal.run("gdaltransform", args, options);
  return Math.abs(Number.parseFloat(stdout) - degreesAt1000km) > 1e-6;
}
