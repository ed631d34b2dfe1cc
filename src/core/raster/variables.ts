/**
 * Reads how a file of many grids (NetCDF, HDF, GRIB, Zarr) is organised, and chooses the grids that
 * become bands of one raster: the variables on the largest grid, at all their times.
 */
import { z } from "zod";

export interface Variable {
  /** The name by which GDAL opens it. */
  readonly source: string;
  readonly name: string;
  /** Rows and columns, and before them the times and levels. */
  readonly shape: readonly number[];
}

const listing = z.looseObject({
  metadata: z.record(z.string(), z.unknown()).optional(),
  bands: z.array(z.unknown()).default([]),
});
const texts = z.record(z.string(), z.string());

/** The variables that gdalinfo lists; empty for a file that is one grid itself. */
export function listVariables(json: string): Variable[] {
  const parsed = listing.safeParse(parseJson(json));
  const listed = texts.safeParse(parsed.data?.metadata?.["SUBDATASETS"] ?? {}).data ?? {};
  return Object.entries(listed).flatMap(([key, source]) => {
    const number = /^SUBDATASET_(\d+)_NAME$/.exec(key)?.[1];
    if (number === undefined) return [];
    const text = listed[`SUBDATASET_${number}_DESC`] ?? "";
    const shape = /^\[([\dx]+)\]/.exec(text)?.[1]?.split("x").map(Number) ?? [];
    return [{ source, name: nameOf(source), shape }];
  });
}

/** `NETCDF:"a.nc":t2m` and `HDF5:"a.h5"://grid/rain` name their variable last. */
function nameOf(source: string): string {
  const last = /":\/*(.+)$/.exec(source)?.[1] ?? source.split(":").at(-1) ?? source;
  return last.replaceAll('"', "").replace(/^\/+/, "");
}

/** Variables that only describe the others: coordinates, bounds of cells, grid mappings. */
const describing =
  /(?:^|\/)(?:lat|lon|latitude|longitude|xc|yc|x|y|time|crs|spatial_ref|nv|.*_(?:bnds|bounds))$/i;

/** Text: the reason why none can be chosen. */
export function chooseVariables(
  variables: readonly Variable[],
  wanted: string | undefined,
): readonly Variable[] | string {
  const names = variables.map(({ name }) => name).join(", ");
  if (wanted !== undefined) {
    const found = variables.filter(({ name }) => name === wanted || name.endsWith(`/${wanted}`));
    return found.length === 0 ? `It has no variable "${wanted}"; it has ${names}.` : found;
  }
  const grids = variables.filter(({ name, shape }) => shape.length >= 2 && !describing.test(name));
  const area = ({ shape }: Variable) => (shape.at(-1) ?? 0) * (shape.at(-2) ?? 0);
  const most = Math.max(0, ...grids.map(area));
  const chosen = grids.filter((each) => area(each) === most && most > 1);
  const [first] = chosen;
  if (first === undefined) return `It has no variable that is a grid; it has ${names}.`;
  return chosen.filter(
    ({ shape }) => shape.at(-1) === first.shape.at(-1) && shape.at(-2) === first.shape.at(-2),
  );
}

/** More bands than these make a raster that no map and few programs can use. */
export const mostLayers = 256;

const bandInfo = z.looseObject({
  type: z.string(),
  noDataValue: z.union([z.number(), z.string()]).optional(),
  unit: z.string().optional(),
  description: z.string().optional(),
  scale: z.number().optional(),
  offset: z.number().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
const gridInfo = z.looseObject({
  size: z.tuple([z.number(), z.number()]).optional(),
  geoTransform: z.array(z.number()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  coordinateSystem: z.looseObject({ wkt: z.string().optional() }).optional(),
  bands: z.array(bandInfo).default([]),
});

export interface VariableBand {
  /** GDAL's name of the type. */
  readonly type: string;
  readonly nodata: number | undefined;
  readonly scale: number;
  readonly offset: number;
  readonly unit: string;
  readonly label: string;
  /** ISO; undefined: the file does not say. */
  readonly time: string | undefined;
}

export interface VariableGrid {
  readonly bands: readonly VariableBand[];
  readonly hasCrs: boolean;
  /** The coordinates are degrees of longitude and latitude, by their units. */
  readonly isInDegrees: boolean;
  /** The variable with the latitudes. */
  readonly latitude: string | undefined;
  /** First and last centre of the columns and of the rows, where GDAL has placed it. */
  readonly centres: { readonly x: Span; readonly y: Span } | undefined;
}

type Span = readonly [number, number];

/** True: GDAL took the latitudes for x, because the array has them in its last dimension. */
export function isSideways({ centres }: VariableGrid, latitudes: string): boolean {
  const [band] = rangeInfo.safeParse(parseJson(latitudes)).data?.bands ?? [];
  const { computedMin: least, computedMax: most } = band ?? {};
  if (centres === undefined || least === undefined || most === undefined) return false;
  const isAlong = ([a, b]: Span) => {
    const near = Math.abs(b - a) / 1000;
    return Math.abs(Math.min(a, b) - least) <= near && Math.abs(Math.max(a, b) - most) <= near;
  };
  return isAlong(centres.x) && !isAlong(centres.y);
}

const rangeInfo = z.looseObject({
  bands: z.array(
    z.looseObject({ computedMin: z.number().optional(), computedMax: z.number().optional() }),
  ),
});

/** Undefined: the text is not the output of gdalinfo. */
export function readVariable(json: string, name: string): VariableGrid | undefined {
  const parsed = gridInfo.safeParse(parseJson(json));
  if (!parsed.success) return undefined;
  const main = texts.safeParse(parsed.data.metadata?.[""] ?? {}).data ?? {};
  const units = Object.entries(main).filter(([key]) => key.endsWith("#units"));
  const { size, geoTransform } = parsed.data;
  return {
    latitude: units.find(([, unit]) => /^degrees?_n/i.test(unit))?.[0].replace(/#units$/, ""),
    centres: size && geoTransform && centresOf(size, geoTransform),
    hasCrs: (parsed.data.coordinateSystem?.wkt ?? "") !== "",
    isInDegrees:
      units.some(([, unit]) => /^degrees?_n/i.test(unit)) &&
      units.some(([, unit]) => /^degrees?_e/i.test(unit)),
    bands: parsed.data.bands.map((band) => toBand(band, name, main)),
  };
}

function centresOf([width, height]: Span, [x = 0, dx = 0, , y = 0, , dy = 0]: readonly number[]) {
  const span = (start: number, step: number, count: number) =>
    [start + step / 2, start + step * (count - 0.5)] as const;
  return { x: span(x, dx, width), y: span(y, dy, height) };
}

function toBand(
  band: z.output<typeof bandInfo>,
  name: string,
  main: Readonly<Record<string, string>>,
): VariableBand {
  const own = texts.safeParse(band.metadata?.[""] ?? {}).data ?? {};
  const nodata = Number(band.noDataValue ?? NaN);
  const time = timeOf(own, main);
  const variable = own["GRIB_ELEMENT"] ?? own["NETCDF_VARNAME"] ?? name;
  const levels = Object.entries(own)
    .filter(([key]) => key.startsWith("NETCDF_DIM_") && key !== timeKey(own, main))
    .map(([key, value]) => `${key.slice("NETCDF_DIM_".length)}=${value}`);
  const level = own["GRIB_SHORT_NAME"];
  const parts = [variable, ...(level === undefined ? [] : [level]), ...levels, time ?? ""];
  // GDAL gives the packed numbers of GRIB, of 32 bits at most, as floats of 64.
  const isPacked = own["GRIB_ELEMENT"] !== undefined && band.type === "Float64";
  return {
    type: isPacked ? "Float32" : band.type,
    nodata: band.noDataValue === undefined || Number.isNaN(nodata) ? undefined : nodata,
    scale: band.scale ?? 1,
    offset: band.offset ?? 0,
    unit: (band.unit ?? own["units"] ?? own["GRIB_UNIT"] ?? "").replaceAll(/[[\]]/g, ""),
    label: parts.filter((part) => part !== "").join(" "),
    time,
  };
}

const span =
  /^(seconds?|minutes?|hours?|days?)\s+since\s+(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?/i;
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The key of the dimension that counts time, by its unit. */
function timeKey(
  own: Readonly<Record<string, string>>,
  main: Readonly<Record<string, string>>,
): string | undefined {
  return Object.keys(own).find(
    (key) =>
      key.startsWith("NETCDF_DIM_") &&
      span.test(main[`${key.slice("NETCDF_DIM_".length)}#units`] ?? ""),
  );
}

function timeOf(
  own: Readonly<Record<string, string>>,
  main: Readonly<Record<string, string>>,
): string | undefined {
  const valid = Number.parseInt(own["GRIB_VALID_TIME"] ?? "", 10);
  if (Number.isFinite(valid)) return toIso(valid * 1000);
  const key = timeKey(own, main);
  if (key === undefined) return undefined;
  const name = key.slice("NETCDF_DIM_".length);
  return countTime(Number(own[key]), main[`${name}#units`] ?? "", main[`${name}#calendar`] ?? "");
}

/** The moment that CF writes as a count of units since a start; undefined: it is none. */
export function countTime(count: number, units: string, calendar: string): string | undefined {
  // Other calendars have days that a clock does not have.
  if (!/^(?:standard|gregorian|proleptic_gregorian)?$/i.test(calendar)) return undefined;
  const parts = span.exec(units);
  if (parts === null || !Number.isFinite(count)) return undefined;
  const [, unit = "", year, month, day, hour = "0", minute = "0", second = "0"] = parts;
  const start = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  return toIso(start + count * (seconds[unit.slice(0, 1).toLowerCase()] ?? NaN) * 1000);
}

/** The range of dates that ISO writes with four digits. */
const mostMoment = Date.UTC(9999, 0);

function toIso(moment: number): string | undefined {
  if (!Number.isFinite(moment) || Math.abs(moment) > mostMoment) return undefined;
  return new Date(Math.round(moment / 1000) * 1000).toISOString().replace(".000Z", "Z");
}

export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json.replaceAll(/:\s*(-?(?:nan|inf|infinity))\b/gi, ': "$1"'));
  } catch {
    return undefined;
  }
}
