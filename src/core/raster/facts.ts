/**
 * The facts about one raster file, in the words of the catalogue. Handlers return them in their
 * results, the catalogue builds items from them, and serving derives styles from them.
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

/** JSON cannot write these three numbers. */
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
  /** For example `EPSG:32618`; null if the system has no code. */
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

/**
 * Statistics of a reduced copy of at most a quarter of a million pixels: for styles, not for
 * science.
 */
const bandSample = z.object({
  /** 2 and 98 per cent of the valid pixels lie below these values. */
  percentile_2: z.number(),
  percentile_98: z.number(),
  /** The number of different values, counted up to a limit. */
  distinct: z.number().int(),
  /** Whether every value is a whole number. */
  whole: z.boolean(),
  /** The share of pixels that are NaN. */
  nan_share: z.number(),
  /** The lowest value, and the share of pixels that have exactly it. */
  lowest: z.number(),
  lowest_share: z.number(),
  /** The mean step between neighbours, as a share of the range between the percentiles. */
  roughness: z.number().optional(),
});
export type BandSample = z.infer<typeof bandSample>;

export const rasterBand = z.object({
  name: z.string(),
  description: z.string().nullable(),
  data_type: dataType,
  /** GDAL's name in lower case: red, green, blue, alpha, gray, palette, undefined … */
  color: z.string(),
  nodata: nodataValue.nullable(),
  unit: z.string().nullable(),
  scale: z.number().nullable(),
  offset: z.number().nullable(),
  statistics: bandStatistics.nullable(),
  sample: bandSample.nullable(),
});
export type RasterBand = z.infer<typeof rasterBand>;

/** A class of a raster attribute table. */
export const rasterClass = z.object({
  value: z.number(),
  name: z.string(),
  /** Six hexadecimal digits: red, green, blue. */
  color: z.string().optional(),
});
export type RasterClass = z.infer<typeof rasterClass>;

export const transform = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.number(),
]);
/** `x = t0·column + t1·row + t2`, `y = t3·column + t4·row + t5`, in the order of STAC. */
export type Transform = z.infer<typeof transform>;

const nativeBounds = z.tuple([z.number(), z.number(), z.number(), z.number()]);

/** Facts about a file that is in storage and passed validation. */
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
  /** How empty pixels are marked. */
  transparency: z.enum(["none", "nodata", "alpha", "mask"]),
  sampling: z.enum(["area", "point"]),
  raster_type: rasterType,
  /** Names of its classes, where the source has a table of them. */
  classes: z.array(rasterClass).optional(),
  /** The time in the file, if it has one. */
  datetime: z.iso.datetime({ offset: true }).nullable(),
  /** The first and the last time, where the bands are of several times. */
  time_span: z
    .tuple([z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true })])
    .optional(),
  bytes: z.number().int().min(0),
  /** The multihash in hex: `1220` and the SHA-256. */
  checksum: z.string().regex(/^1220[0-9a-f]{64}$/),
  /** Versions by program. */
  software: z.record(z.string(), z.string()),
});
export type RasterFacts = z.infer<typeof rasterFacts>;

/**
 * analysis: every value is kept. visualization: made for display. archive: small, values unchanged.
 */
export const tier = z.enum(["analysis", "visualization", "archive"]);
export type Tier = z.infer<typeof tier>;

/** The choices of the submitter about how a raster is judged. */
export interface RasterPolicy {
  readonly tier: Tier;
  /** The CRS that the submission states. */
  readonly givenCrs: RasterCrs | null;
  readonly strict: boolean;
  readonly rasterType: RasterType | undefined;
  readonly allowDowncast: boolean;
  /** A raster with at least this share of empty pixels is refused; 100 accepts everything. */
  readonly maxNodataPercent: number;
  /** Overrides the value that the file declares. */
  readonly nodata: number | undefined;
  /** The compression that the submission asks for. */
  readonly compression?: Compression | undefined;
  /** A hint about the content. */
  readonly fileName?: string | undefined;
  /** The type of the file's samples, where they were widened to be read. */
  readonly sampleType?: DataType | undefined;
}

export type Compression = "deflate" | "zstd" | "lzw" | "jpeg" | "webp" | "lerc" | "none";
