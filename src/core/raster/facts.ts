/**
 * What is known of one raster file, in the words of the catalogue. Handlers put it into their
 * results, the catalogue builds items from it, serving reads styles from it.
 */
import { z } from "zod";

export const dataType = z.enum([
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "uint64",
  "int64",
  "float32",
  "float64",
  "cint16",
  "cint32",
  "cfloat32",
  "cfloat64",
]);
export type DataType = z.infer<typeof dataType>;

/** JSON has no word for these three. */
export const nodataValue = z.union([z.number(), z.enum(["nan", "inf", "-inf"])]);
export type NodataValue = z.infer<typeof nodataValue>;

export const rasterType = z.enum([
  "rgb",
  "rgba",
  "multispectral",
  "categorical",
  "dem",
  "vegetation_index",
  "flood_depth",
  "continuous",
  "unknown",
]);
export type RasterType = z.infer<typeof rasterType>;

export const rasterCrs = z.object({
  /** `EPSG:32618`; null when no authority knows it. */
  code: z.string().nullable(),
  name: z.string(),
  wkt2: z.string(),
});
export type RasterCrs = z.infer<typeof rasterCrs>;

const bandStatistics = z.object({
  minimum: z.number(),
  maximum: z.number(),
  mean: z.number(),
  stddev: z.number(),
  valid_percent: z.number().nullable(),
});

/** Of a reduced copy of at most a quarter of a million pixels: for styles, never for science. */
const bandSample = z.object({
  /** Where 2 and 98 per cent of the valid pixels lie below. */
  percentile_2: z.number(),
  percentile_98: z.number(),
  /** Different values, counted up to a limit. */
  distinct: z.number().int(),
  /** Whether every value is a whole number. */
  whole: z.boolean(),
  /** The share of pixels that are not numbers. */
  nan_share: z.number(),
  /** The lowest value, and the share of pixels that have exactly it. */
  lowest: z.number(),
  lowest_share: z.number(),
});
export type BandSample = z.infer<typeof bandSample>;

export const rasterBand = z.object({
  name: z.string(),
  description: z.string().nullable(),
  data_type: dataType,
  /** As GDAL calls it, in lower case: red, green, blue, alpha, gray, palette, undefined … */
  color: z.string(),
  nodata: nodataValue.nullable(),
  unit: z.string().nullable(),
  scale: z.number().nullable(),
  offset: z.number().nullable(),
  statistics: bandStatistics.nullable(),
  sample: bandSample.nullable(),
});
export type RasterBand = z.infer<typeof rasterBand>;

export const transform = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.number(),
]);
/** `x = t0·column + t1·row + t2`, `y = t3·column + t4·row + t5`: the order of STAC. */
export type Transform = z.infer<typeof transform>;

const nativeBounds = z.tuple([z.number(), z.number(), z.number(), z.number()]);

/** Of a file that is in storage and known to be good. */
export const rasterFacts = z.object({
  width: z.number().int().min(1),
  height: z.number().int().min(1),
  crs: rasterCrs,
  transform,
  /** In units of the CRS: west, south, east, north. */
  bounds: nativeBounds,
  bands: z.array(rasterBand).min(1),
  overviews: z.array(z.object({ width: z.number().int(), height: z.number().int() })),
  block_size: z.tuple([z.number().int(), z.number().int()]),
  compression: z.string().nullable(),
  /** How a pixel says that it holds nothing. */
  transparency: z.enum(["none", "nodata", "alpha", "mask"]),
  sampling: z.enum(["area", "point"]),
  raster_type: rasterType,
  /** As the file says it, if it does. */
  datetime: z.iso.datetime({ offset: true }).nullable(),
  bytes: z.number().int().min(0),
  /** Multihash in hex: `1220` and the SHA-256. */
  checksum: z.string().regex(/^1220[0-9a-f]{64}$/),
  /** Program → version. */
  software: z.record(z.string(), z.string()),
});
export type RasterFacts = z.infer<typeof rasterFacts>;

/** analysis: every value as it is. visualization: made for looking at. archive: small, as it came. */
export const tier = z.enum(["analysis", "visualization", "archive"]);
export type Tier = z.infer<typeof tier>;

/** What whoever submits a raster may decide about how it is judged. */
export interface RasterPolicy {
  readonly tier: Tier;
  /** What the submission says that its CRS is. */
  readonly givenCrs: RasterCrs | null;
  readonly strict: boolean;
  readonly rasterType: RasterType | undefined;
  readonly allowDowncast: boolean;
  /** As empty as this is refused; 100 takes everything. */
  readonly maxNodataPercent: number;
  /** Overrides what the file declares. */
  readonly nodata: number | undefined;
}
