/**
 * Places arrays that GDAL does not place: those in the order longitude, latitude (GPM IMERG), which are
 * turned, and the grids of HDF-EOS5 (place-hdf-eos.ts).
 */
import { z } from "zod";
import type { Transform } from "./facts.ts";
import { parseJson } from "./variables.ts";

export interface Placement {
  /** Of the array once it is turned, north up. */
  readonly transform: Transform;
  /** A definition that PROJ understands; undefined: longitude and latitude on WGS 84. */
  readonly crs: string | undefined;
  /** Undefined: rows and columns stay as they are. */
  readonly turn: Turn | undefined;
}

/** Rows become columns and columns become rows. */
export interface Turn {
  /** The first row is the western one. */
  readonly fromWest: boolean;
  /** The first column is the southern one. */
  readonly fromSouth: boolean;
}

export interface Axis {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
}

const isLongitude = ({ name, unit }: Omit<Axis, "values">): boolean =>
  /^degrees?_e/i.test(unit) || (unit === "" && /^(?:lon|longitude)$/i.test(name));
const isLatitude = ({ name, unit }: Omit<Axis, "values">): boolean =>
  /^degrees?_n/i.test(unit) || (unit === "" && /^(?:lat|latitude)$/i.test(name));

/** True: the rows of the array are longitudes, and its columns are latitudes. */
export function liesOnItsSide(
  rows: Omit<Axis, "values"> | undefined,
  columns: Omit<Axis, "values"> | undefined,
): boolean {
  return rows !== undefined && columns !== undefined && isLongitude(rows) && isLatitude(columns);
}

/** Undefined: the coordinates are not evenly spaced, so that no grid fits them. */
export function placeOnSide(rows: Axis, columns: Axis): Placement | undefined {
  const [east, north] = [spacingOf(rows.values), spacingOf(columns.values)];
  if (east === undefined || north === undefined) return undefined;
  const [west, top] = [Math.min(east.first, east.last), Math.max(north.first, north.last)];
  const [dx, dy] = [Math.abs(east.step), Math.abs(north.step)];
  return {
    transform: [dx, 0, west - dx / 2, 0, -dy, top + dy / 2],
    crs: undefined,
    turn: { fromWest: east.step > 0, fromSouth: north.step > 0 },
  };
}

/** The share of a step by which a coordinate may differ: 32-bit floats have seven digits. */
const uneven = 0.01;

function spacingOf(values: readonly number[]) {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined || values.length < 2) return undefined;
  const step = (last - first) / (values.length - 1);
  const isEven = values.every(
    (value, index) => Math.abs(value - (first + index * step)) <= Math.abs(step) * uneven,
  );
  return isEven && step !== 0 ? { first, last, step } : undefined;
}

/**
 * The transform that lays an array of these sizes north up where GDAL warps it, one unit a pixel. The
 * target then reaches from 0, 0 to `height`, `width`.
 */
export function turnTransform(width: number, height: number, turn: Turn): Transform {
  const [b, c] = turn.fromWest ? [1, 0] : [-1, height];
  const [d, f] = turn.fromSouth ? [1, 0] : [-1, width];
  return [0, b, c, d, 0, f];
}

const arrayInfo = z.looseObject({
  name: z.string(),
  unit: z.string().default(""),
  dimensions: z
    .array(
      z.looseObject({
        name: z.string(),
        size: z.number(),
        indexing_variable: z.string().optional(),
      }),
    )
    .default([]),
  values: z.union([z.string(), z.array(z.number())]).optional(),
});

/** What `gdalmdiminfo` says of one array; undefined: it is not its output. */
export function readArrayInfo(json: string): z.output<typeof arrayInfo> | undefined {
  return arrayInfo.safeParse(parseJson(json)).data;
}

interface GroupInfo {
  readonly arrays?: Record<string, { dimension_size?: number[] | undefined }> | undefined;
  readonly groups?: Record<string, GroupInfo> | undefined;
}
const groupInfo: z.ZodType<GroupInfo> = z.looseObject({
  arrays: z
    .record(z.string(), z.looseObject({ dimension_size: z.array(z.number()).optional() }))
    .optional(),
  get groups() {
    return z.record(z.string(), groupInfo).optional();
  },
});

/** The one array of a file that can be a grid, by what `gdalmdiminfo` lists; undefined: it is not one. */
export function findOnlyGrid(json: string): string | undefined {
  const found: string[] = [];
  const visit = ({ arrays = {}, groups = {} }: GroupInfo, path: string) => {
    for (const [name, { dimension_size = [] }] of Object.entries(arrays)) {
      if (dimension_size.filter((size) => size > 1).length >= 2) found.push(`${path}${name}`);
    }
    for (const [name, group] of Object.entries(groups)) visit(group, `${path}${name}/`);
  };
  const parsed = groupInfo.safeParse(parseJson(json));
  if (parsed.success) visit(parsed.data, "");
  return found.length === 1 ? found[0] : undefined;
}
