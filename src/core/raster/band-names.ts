/** What the name of a band says about it. Files name their bands in descriptions, in many ways. */
import type { RasterBand } from "./facts.ts";

type Named = Pick<RasterBand, "color" | "description">;
const visible = ["red", "green", "blue"] as const;
type Visible = (typeof visible)[number];

const colourWord =
  /^(?:band|channel|ch|b)?[\s_.:-]*\d*[\s_.:(-]*(red|green|blue)[\s_)-]*(?:band)?$/i;

/** Red, green or blue, by the file's own mark or by the band's name. */
export function colourOf({ color, description }: Named): Visible | undefined {
  const marked = visible.find((each) => each === color);
  if (marked !== undefined) return marked;
  const word = colourWord.exec(description?.trim() ?? "")?.[1]?.toLowerCase();
  return visible.find((each) => each === word);
}

/** The bands to show as red, green and blue; undefined where the names do not say. */
export function findColours<Band extends Named>(bands: readonly Band[]): Band[] | undefined {
  const found = visible.map((colour) => bands.find((band) => colourOf(band) === colour));
  return found.every((band) => band !== undefined) ? found : undefined;
}

const heightWord =
  /(?:^|[^a-z])(?:dem|dtm|dsm|dgm|dom|mnt|elev\w*|height\w*|hoehe|höhe|alti\w*|terrain|topo\w*|relief|bathy\w*|depth|srtm|aster|lidar|copernicus_dsm)(?:$|[^a-z])/i;
const lengthUnit = /^(?:m|metres?|meters?|ft|feet|foot|us-ft|us survey f(?:oot|eet))$/i;
const noUnit = /^(?:|-|none|unknown|n\/?a)$/i;
const sensorWord =
  /(?:^|[^a-z])(?:b\d{1,2}a?|band[\s_]?\d+|sr_b\d+|nir\d?|swir\d?|pan|tci|aot|scl|vv|vh|hh|hv|sigma0?\w*|gamma0?\w*|beta0?\w*|backscatter|amplitude|intensity|coherence|reflectance|radiance|toa|boa|brightness|temperature|lst|ndvi|evi|savi|ndwi|s1[ab]|s2[ab]|lc0\d|le07|lt0\d|mod\d\d\w*|myd\d\d\w*)(?:$|[^a-z])/i;

/** What the names of a band and of its file say: heights, a sensor's measurement, or nothing. */
export function hintOf(
  { description, unit }: Pick<RasterBand, "description" | "unit">,
  fileName = "",
): "height" | "sensor" | undefined {
  const words = `${description ?? ""} ${fileName}`.replaceAll("_", " ");
  if (sensorWord.test(words)) return "sensor";
  const given = unit?.trim() ?? "";
  if (heightWord.test(words) || lengthUnit.test(given)) return "height";
  // Heights have a length for their unit, or none.
  return noUnit.test(given) ? undefined : "sensor";
}
