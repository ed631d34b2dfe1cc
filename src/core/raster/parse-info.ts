/** Reads the output of `gdalinfo -json` into our own types. */
import { z } from "zod";
import { describeCrs, isLocalSystem, wgs84Wkt } from "./crs.ts";
import { fromGdalType } from "./data-type.ts";
import type { NodataValue, RasterBand, Transform } from "./facts.ts";
import type { InspectedRaster } from "./inspected.ts";
import { readClasses } from "./read-classes.ts";

const text = z.record(z.string(), z.string());
/** Numbers that JSON cannot write come as text. */
const loose = z.union([z.number(), z.string()]);

const bandInfo = z.looseObject({
  band: z.number().int(),
  block: z.tuple([z.number(), z.number()]),
  type: z.string(),
  colorInterpretation: z.string().optional(),
  description: z.string().optional(),
  noDataValue: loose.optional(),
  unit: z.string().optional(),
  scale: loose.optional(),
  offset: loose.optional(),
  minimum: loose.optional(),
  maximum: loose.optional(),
  mean: loose.optional(),
  stdDev: loose.optional(),
  mask: z.looseObject({ flags: z.array(z.string()).optional() }).optional(),
  overviews: z
    .array(z.looseObject({ size: z.tuple([z.number(), z.number()]).optional() }))
    .optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  rat: z.unknown().optional(),
});

const info = z.looseObject({
  driverShortName: z.string(),
  size: z.tuple([z.number().int(), z.number().int()]),
  coordinateSystem: z.looseObject({ wkt: z.string().optional() }).optional(),
  gcps: z
    .looseObject({
      gcpList: z.array(z.looseObject({ pixel: z.number(), line: z.number() })).optional(),
      coordinateSystem: z.looseObject({ wkt: z.string().optional() }).optional(),
    })
    .optional(),
  geoTransform: z.array(z.number()).length(6).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  wgs84Extent: z.looseObject({ coordinates: z.array(z.unknown()).optional() }).optional(),
  bands: z.array(bandInfo).default([]),
  /** GDAL 3.6 writes the table beside the bands, later versions into them. */
  rat: z.unknown().optional(),
});

type ParsedInfo = Omit<
  InspectedRaster,
  "bytes" | "isCog" | "isWholeCog" | "lacksPalette" | "readErrors"
>;

/** GDAL's JSON may contain bare NaN and Infinity. Undefined: the output has another form. */
export function parseGdalInfo(json: string): ParsedInfo | undefined {
  const quoted = json.replaceAll(/:\s*(-?(?:nan|inf|infinity))\b/gi, ': "$1"');
  let value: unknown;
  try {
    value = JSON.parse(quoted);
  } catch {
    return undefined;
  }
  const parsed = info.safeParse(value);
  return parsed.success ? toRaster(parsed.data) : undefined;
}

function toRaster(given: z.output<typeof info>): ParsedInfo | undefined {
  const bands = given.bands.map(toBand);
  if (bands.some((band) => band === undefined)) return undefined;
  const [first] = given.bands;
  const own = given.coordinateSystem?.wkt ?? given.gcps?.coordinateSystem?.wkt ?? "";
  const hasRpc = Object.hasOwn(given.metadata ?? {}, "RPC");
  // The coefficients of RPC are in WGS 84 by definition.
  const wkt = own === "" && hasRpc && given.geoTransform === undefined ? wgs84Wkt : own;
  const isLocal = isLocalSystem(wkt);
  const points = given.gcps?.gcpList ?? [];
  const structure = domain(given.metadata, "IMAGE_STRUCTURE");
  const main = domain(given.metadata, "");
  return {
    driver: given.driverShortName,
    width: given.size[0],
    height: given.size[1],
    crs: isLocal ? null : (describeCrs(wkt) ?? null),
    localSystem: isLocal ? (describeCrs(wkt)?.name ?? "") : null,
    transform: given.geoTransform === undefined ? null : toTransform(given.geoTransform),
    gcpCount: points.length,
    areGcpsOnLine: areOnLine(points.map(({ pixel, line }) => [pixel, line])),
    hasRpc,
    sampleBits: sampleBitsOf(given.bands),
    furtherImages: furtherImages(domain(given.metadata, "SUBDATASETS")),
    classes: readClasses(given.rat ?? first?.rat),
    bands: bands.filter((band) => band !== undefined),
    hasPalette: given.bands.some((band) => band.colorInterpretation === "Palette"),
    transparency: transparencyOf(given.bands),
    overviews: (first?.overviews ?? []).flatMap(({ size }) =>
      size === undefined ? [] : [{ width: size[0], height: size[1] }],
    ),
    blockSize: first?.block ?? [given.size[0], 1],
    compression: structure["COMPRESSION"] ?? null,
    sampling: main["AREA_OR_POINT"] === "Point" ? "point" : "area",
    datetime: readDatetime(
      domain(given.metadata, "IMAGERY")["ACQUISITIONDATETIME"] ?? main["TIFFTAG_DATETIME"],
    ),
    timeSpan: readSpan(main["RMHDAG_TIME_SPAN"]),
    wgs84Ring: toRing(given.wgs84Extent?.coordinates),
  };
}

/** True where the points, fewer than three or in a row, do not place an image. */
function areOnLine(points: readonly (readonly [number, number])[]): boolean {
  const [first, ...others] = points;
  if (first === undefined) return false;
  const far = others.find(([x, y]) => x !== first[0] || y !== first[1]);
  if (far === undefined) return true;
  const [dx, dy] = [far[0] - first[0], far[1] - first[1]];
  return others.every(([x, y]) => Math.abs(dx * (y - first[1]) - dy * (x - first[0])) < 1e-6);
}

/** GDAL tells the bits of a sample only where they are fewer than those of the data type. */
function sampleBitsOf(bands: readonly z.output<typeof bandInfo>[]): number | null {
  const bits = bands.map(({ metadata }) => domain(metadata, "IMAGE_STRUCTURE")["NBITS"]);
  const found = finite(bits.find((each) => each !== undefined));
  return found ?? null;
}

/** GDAL opened the first image. */
function furtherImages(listed: Readonly<Record<string, string>>): string[] {
  return Object.entries(listed)
    .filter(([key]) => /^SUBDATASET_\d+_DESC$/.test(key) && key !== "SUBDATASET_1_DESC")
    .map(([, text]) => text);
}

function domain(metadata: Record<string, unknown> | undefined, name: string) {
  const found = metadata !== undefined && Object.hasOwn(metadata, name) ? metadata[name] : {};
  const parsed = text.safeParse(found);
  return parsed.success ? parsed.data : {};
}

function toBand(given: z.output<typeof bandInfo>): RasterBand | undefined {
  const isSigned = domain(given.metadata, "IMAGE_STRUCTURE")["PIXELTYPE"] === "SIGNEDBYTE";
  const type = isSigned ? "int8" : fromGdalType(given.type);
  if (type === undefined) return undefined;
  return {
    name: `b${given.band}`,
    description:
      given.description === undefined || given.description === "" ? null : given.description,
    data_type: type,
    color: (given.colorInterpretation ?? "undefined").toLowerCase(),
    nodata: given.noDataValue === undefined ? null : toNodata(given.noDataValue),
    unit: given.unit === undefined || given.unit === "" ? null : given.unit,
    scale: finite(given.scale) ?? null,
    offset: finite(given.offset) ?? null,
    statistics: statisticsOf(given),
    sample: null,
  };
}

function statisticsOf(given: z.output<typeof bandInfo>): RasterBand["statistics"] {
  const kept = domain(given.metadata, "");
  // GDAL rounds its own fields to three decimals, and not what it keeps in the metadata.
  const read = (own: number | string | undefined, key: string) => finite(kept[key]) ?? finite(own);
  const minimum = read(given.minimum, "STATISTICS_MINIMUM");
  const maximum = read(given.maximum, "STATISTICS_MAXIMUM");
  const mean = read(given.mean, "STATISTICS_MEAN");
  const stddev = read(given.stdDev, "STATISTICS_STDDEV");
  if (minimum === undefined || maximum === undefined) return null;
  const valid_percent = finite(kept["STATISTICS_VALID_PERCENT"]) ?? null;
  return { minimum, maximum, mean: mean ?? minimum, stddev: stddev ?? 0, valid_percent };
}

function finite(value: number | string | undefined): number | undefined {
  if (value === undefined || value === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function toNodata(value: number | string): NodataValue {
  if (typeof value === "number") return value;
  const word = value.toLowerCase();
  if (word.includes("nan")) return "nan";
  if (word.startsWith("-inf")) return "-inf";
  return word.startsWith("inf") ? "inf" : Number(value);
}

/** GDAL's order: origin, step and skew of x, then of y. */
function toTransform([x = 0, dx = 0, xSkew = 0, y = 0, ySkew = 0, dy = 0]: number[]): Transform {
  return [dx, xSkew, x, ySkew, dy, y];
}

function transparencyOf(
  bands: readonly z.output<typeof bandInfo>[],
): InspectedRaster["transparency"] {
  const flags = bands.flatMap(({ mask }) => mask?.flags ?? []);
  // GDAL reads a mask instead of a nodata value, and a nodata value instead of alpha.
  const isMasked = flags.includes("PER_DATASET") && !flags.includes("ALPHA");
  const hasNodata = bands.some(({ noDataValue }) => noDataValue !== undefined);
  if (hasNodata && !isMasked) return "nodata";
  if (bands.some(({ colorInterpretation }) => colorInterpretation === "Alpha")) return "alpha";
  return isMasked ? "mask" : "none";
}

/** `2019:05:01 10:20:30` from TIFF, or ISO; taken as UTC, because neither names a zone. */
function readDatetime(given: string | undefined): string | null {
  const parts = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(given ?? "");
  if (parts === null) return null;
  const [, ...numbers] = parts;
  const iso = `${numbers.slice(0, 3).join("-")}T${numbers.slice(3).join(":")}Z`;
  return Number.isNaN(Date.parse(iso)) ? null : iso;
}

/** Start and end of the times that became bands, as `unpack-source.ts` writes them. */
function readSpan(text: string | undefined): InspectedRaster["timeSpan"] {
  const [start, end] = (text ?? "").split("/");
  const isTime = (each: string | undefined) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(each ?? "");
  return start !== undefined && end !== undefined && isTime(start) && isTime(end)
    ? [start, end]
    : null;
}

function toRing(coordinates: unknown[] | undefined): InspectedRaster["wgs84Ring"] {
  const points = z.array(z.tuple([z.number(), z.number()])).min(4);
  const parsed = points.safeParse(coordinates?.[0]);
  return parsed.success ? parsed.data : null;
}
