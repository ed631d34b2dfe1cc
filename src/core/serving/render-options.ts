/** The options of a picture: those that the address gives, and the layer's style for the rest. */
import { z } from "zod";
import type { ColormapName } from "./colormaps.ts";
import { colormapNames } from "./colormaps.ts";
import type { Resampling } from "./resample.ts";
import { resamplingMethods } from "./resample.ts";
import type { Colormap, LayerStyle } from "./style.ts";
import { colormap } from "./style.ts";

const numberText = String.raw`[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?`;
const nodataText = new RegExp(`^(?:[nN][aA][nN]|${numberText})$`);
const rangeText = new RegExp(`^ ?${numberText}, ?${numberText}$`);

export interface RenderOptions {
  readonly bands?: readonly number[] | undefined;
  readonly rescale?: readonly (readonly [number, number])[] | undefined;
  readonly colormap_name?: ColormapName | undefined;
  readonly colormap?: Colormap | undefined;
  readonly nodata?: number | undefined;
  readonly resampling: Resampling;
}

/** A parameter may be repeated, and each may be a list: `bidx=1&bidx=2` or `bidx=1,2`. */
function repeated(text: z.ZodString) {
  return z.union([text, z.array(text).min(1).max(4)]);
}

const bandList = z
  .string()
  .regex(
    /^[1-9]\d{0,4}(,[1-9]\d{0,4}){0,3}$/,
    "must be one to four numbers of bands, of which 1 is the first",
  );
const bidx = repeated(bandList).transform((given, context) => {
  const bands = [given].flat().flatMap((text) => text.split(",").map(Number));
  if (bands.length <= 4) return bands;
  context.addIssue("must be one to four numbers of bands, of which 1 is the first");
  return z.NEVER;
});

const rangeRule = 'must be "low,high" with low < high, once for all bands or once for each';
const range = z.string().regex(rangeText, rangeRule);
const rescale = repeated(range).transform((given, context) => {
  const ranges = [given].flat().map((text) => text.split(",").map(parseNumber));
  if (ranges.every(isRange)) return ranges;
  context.addIssue(rangeRule);
  return z.NEVER;
});

const nodata = z
  .string()
  .regex(nodataText, 'must be a number or "nan"')
  .transform((text) => (text.toLowerCase() === "nan" ? Number.NaN : parseNumber(text)));

const colormapText = z
  .string()
  .max(8192)
  .transform((text, context) => {
    let parsed: ReturnType<typeof colormap.safeParse> | undefined;
    try {
      parsed = colormap.safeParse(JSON.parse(text));
    } catch {
      parsed = undefined;
    }
    if (parsed?.success === true) return parsed.data;
    context.addIssue('must be JSON such as {"1":[255,0,0,255]} or [[[0,10],[255,0,0]]]');
    return z.NEVER;
  });

/** The query parameters of pictures, with TiTiler's names. */
export const renderQuery = {
  bidx: bidx.optional().describe("bands to show; 1 is the first"),
  rescale: rescale.optional().describe('"low,high" shown as black and white'),
  colormap_name: z.enum(colormapNames).optional().describe("a colour ramp for one band"),
  colormap: colormapText.optional().describe("colours as JSON, by value or by interval"),
  nodata: nodata.optional().describe("the value of pixels without data"),
  resampling: z.enum(resamplingMethods).optional(),
  stat: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, "must be the name of a column")
    .optional()
    .describe("of values by H3 cell: the column that colours the cells"),
};
export type RenderQuery = z.output<z.ZodObject<typeof renderQuery>>;

export function chooseOptions(query: RenderQuery, style: LayerStyle | null): RenderOptions {
  const bands = query.bidx ?? style?.bands;
  // Ranges and colours of the style belong to its bands and would be wrong for other bands.
  const fits = query.bidx === undefined || String(query.bidx) === String(style?.bands);
  const fallback = fits ? style : null;
  const asksColours = query.colormap !== undefined || query.colormap_name !== undefined;
  const colours = asksColours ? query : fallback;
  return {
    bands,
    rescale: query.rescale ?? fallback?.rescale,
    colormap: colours?.colormap,
    colormap_name: colours?.colormap === undefined ? colours?.colormap_name : undefined,
    nodata: query.nodata ?? (style?.nodata === "nan" ? Number.NaN : style?.nodata),
    resampling: query.resampling ?? "nearest",
  };
}

/** The same options give the same text, whatever their order in the address. */
export function optionsKey(options: RenderOptions): string {
  const { bands, rescale: ranges, colormap_name, colormap: colours, nodata: hole } = options;
  const parts = [bands, ranges, colormap_name, colours, hole?.toString(), options.resampling];
  return JSON.stringify(parts.map((part) => part ?? null));
}

function parseNumber(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

function isRange(numbers: readonly number[]): numbers is [number, number] {
  const [low = NaN, high = NaN] = numbers;
  return numbers.length === 2 && Number.isFinite(low) && Number.isFinite(high) && low < high;
}

/** Writes the same parameters as a part of another address. */
export function toQueryText(query: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    if (name === "rescale")
      return (value as [number, number][]).map((each) => [name, String(each)]);
    if (name === "bidx") return [[name, (value as number[]).join(",")]];
    if (typeof value === "number") return [[name, String(value).replace("NaN", "nan")]];
    return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
  });
  const text = parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return text === "" ? "" : `?${text}`;
}

export const imageFormats = ["png", "webp", "jpeg"] as const;
export type ImageFormat = (typeof imageFormats)[number];

const mediaOf: Readonly<Record<ImageFormat, string>> = {
  png: "image/png",
  webp: "image/webp",
  jpeg: "image/jpeg",
};

/** Reads the media type from the first byte of a picture. */
export function mediaOfPicture([first]: Uint8Array): string {
  switch (first) {
    case 0x89:
      return mediaOf.png;
    case 0xff:
      return mediaOf.jpeg;
    default:
      return mediaOf.webp;
  }
}

/**
 * Chooses the format of a picture. `auto`: JPEG if no pixel is transparent, otherwise PNG. An
 * extension in the address comes before the Accept header; a browser accepts everything, and `auto`
 * suits it best.
 */
export function chooseFormat(
  extension: string | undefined,
  accept: string | undefined,
): ImageFormat | "auto" {
  if (extension === "jpg" || extension === "jpeg") return "jpeg";
  if (extension === "png" || extension === "webp") return extension;
  const named = (accept ?? "").split(",").map((part) => part.split(";")[0]?.trim() ?? "");
  if (named.some((media) => media === "*/*" || media === "image/*")) return "auto";
  return imageFormats.find((format) => named.includes(mediaOf[format])) ?? "auto";
}
