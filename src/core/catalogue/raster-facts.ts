/** What the catalogue says of a raster, read from `gdalinfo -json`. */
import { z } from "zod";
import type { GeoTransform } from "./footprint.ts";

/** JSON has no NaN: GDAL writes such numbers as text. */
const number = z.union([z.number(), z.string()]);

const info = z.looseObject({
  size: z.tuple([z.number().int().positive(), z.number().int().positive()]),
  geoTransform: z.array(z.number()).length(6).optional(),
  coordinateSystem: z.looseObject({ wkt: z.string().optional() }).optional(),
  metadata: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  stac: z
    .looseObject({ "proj:epsg": z.number().nullish(), "proj:projjson": z.unknown() })
    .optional(),
  bands: z.array(
    z.looseObject({
      type: z.string(),
      noDataValue: number.nullish(),
      description: z.string().optional(),
      colorInterpretation: z.string().optional(),
      unit: z.string().optional(),
      scale: number.optional(),
      offset: number.optional(),
      metadata: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
    }),
  ),
});

export interface RasterFacts {
  readonly width: number;
  readonly height: number;
  /** Absent: the file has no place. */
  readonly transform: GeoTransform | undefined;
  readonly crs: RasterCrs | undefined;
  readonly sampling: "area" | "point";
  readonly metadata: Readonly<Record<string, string>>;
  readonly bands: readonly BandFacts[];
}

export interface RasterCrs {
  /** `EPSG:32618`; null where no authority knows it. */
  readonly code: string | null;
  readonly wkt2: string;
}

export interface BandFacts {
  readonly data_type: string;
  readonly nodata?: number | "nan" | "inf" | "-inf";
  readonly description?: string;
  readonly color?: string;
  readonly unit?: string;
  readonly scale?: number;
  readonly offset?: number;
  readonly statistics?: Readonly<Record<string, number>>;
}

export function readGdalInfo(json: unknown): RasterFacts {
  const read = info.parse(json);
  const [width, height] = read.size;
  const metadata = texts(read.metadata?.[""]);
  const wkt2 = read.coordinateSystem?.wkt;
  return {
    width,
    height,
    transform: read.geoTransform as GeoTransform | undefined,
    crs: wkt2 === undefined || wkt2 === "" ? undefined : { code: codeOf(wkt2), wkt2 },
    sampling: metadata["AREA_OR_POINT"] === "Point" ? "point" : "area",
    metadata: { ...metadata, ...texts(read.metadata?.["IMAGERY"]) },
    bands: read.bands.map((band) => ({
      data_type: dataTypes.get(band.type) ?? "other",
      ...given("nodata", nodataOf(band.noDataValue)),
      ...given("description", band.description),
      ...given("color", colours.get(band.colorInterpretation ?? "")),
      ...given("unit", band.unit),
      ...given("scale", unlike(band.scale, 1)),
      ...given("offset", unlike(band.offset, 0)),
      ...given("statistics", statisticsOf(texts(band.metadata?.[""]))),
    })),
  };
}

/** The authority of the whole stands last, at the outermost level. */
const lastAuthority = /(?:ID|AUTHORITY)\["([A-Za-z]+)",\s*"?([A-Za-z0-9]+)"?\]\]\s*$/;

function codeOf(wkt2: string): string | null {
  const [, authority, code] = lastAuthority.exec(wkt2) ?? [];
  return authority === undefined || code === undefined
    ? null
    : `${authority.toUpperCase()}:${code}`;
}

const dataTypes = new Map([
  ["Byte", "uint8"],
  ["Int8", "int8"],
  ["UInt16", "uint16"],
  ["Int16", "int16"],
  ["UInt32", "uint32"],
  ["Int32", "int32"],
  ["UInt64", "uint64"],
  ["Int64", "int64"],
  ["Float16", "float16"],
  ["Float32", "float32"],
  ["Float64", "float64"],
  ["CInt16", "cint16"],
  ["CInt32", "cint32"],
  ["CFloat32", "cfloat32"],
  ["CFloat64", "cfloat64"],
]);

const colours = new Map([
  ["Red", "red"],
  ["Green", "green"],
  ["Blue", "blue"],
  ["Alpha", "alpha"],
  ["Gray", "gray"],
  ["Palette", "palette"],
]);

function nodataOf(value: number | string | null | undefined): BandFacts["nodata"] {
  if (value == null) return undefined;
  const parsed = typeof value === "number" ? value : Number(value.replace(/inf$/i, "Infinity"));
  if (Number.isFinite(parsed)) return parsed;
  if (Number.isNaN(parsed)) return "nan";
  return parsed > 0 ? "inf" : "-inf";
}

function unlike(value: number | string | undefined, usual: number): number | undefined {
  const parsed = Number(value);
  return value === undefined || !Number.isFinite(parsed) || parsed === usual ? undefined : parsed;
}

const statisticNames = new Map([
  ["STATISTICS_MINIMUM", "minimum"],
  ["STATISTICS_MAXIMUM", "maximum"],
  ["STATISTICS_MEAN", "mean"],
  ["STATISTICS_STDDEV", "stddev"],
  ["STATISTICS_VALID_PERCENT", "valid_percent"],
]);

function statisticsOf(metadata: Readonly<Record<string, string>>): BandFacts["statistics"] {
  const found = [...statisticNames].flatMap(([key, name]) => {
    const value = Object.hasOwn(metadata, key) ? Number(metadata[key]) : NaN;
    return Number.isFinite(value) ? [[name, value] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function texts(metadata: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
}

function given<Key extends string, Value>(key: Key, value: Value | undefined) {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };
}
