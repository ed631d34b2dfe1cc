/** Reads what the arrays of a Zarr say about themselves, of which GDAL tells only a part. */
import { z } from "zod";
import { countTime, parseJson } from "./variables.ts";
import type { Variable } from "./variables.ts";

export interface ZarrArray {
  /** With the groups that it is in: `forecast/t2m`; empty for an array without a group. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Of each dimension; empty where the array does not name them. */
  readonly dimensions: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

const numbers = z.array(z.number().int().min(0));
const attributesOf = z.record(z.string(), z.unknown()).catch({});
const second = z.looseObject({ shape: numbers });
const third = z.looseObject({
  node_type: z.literal("array"),
  shape: numbers,
  dimension_names: z.array(z.string().nullable()).nullish(),
  attributes: attributesOf.optional(),
});

/** Of Zarr 2: `.zarray`, and `.zattrs` if there is one. Undefined: it is no array. */
export function readZarr2(name: string, array: string, attributes: string): ZarrArray | undefined {
  const parsed = second.safeParse(parseJson(array));
  if (!parsed.success) return undefined;
  const own = attributesOf.parse(parseJson(attributes) ?? {});
  const dimensions = z.array(z.string()).safeParse(own["_ARRAY_DIMENSIONS"]).data ?? [];
  return { name, shape: parsed.data.shape, dimensions, attributes: own };
}

/** Of Zarr 3: `zarr.json`. Undefined: it is a group. */
export function readZarr3(name: string, json: string): ZarrArray | undefined {
  const parsed = third.safeParse(parseJson(json));
  if (!parsed.success) return undefined;
  const { shape, dimension_names, attributes = {} } = parsed.data;
  const dimensions = (dimension_names ?? []).map((each) => each ?? "");
  return { name, shape, dimensions, attributes };
}

export const text = (array: ZarrArray | undefined, key: string): string => {
  const found = array?.attributes[key];
  return typeof found === "string" ? found : "";
};

/** True: its coordinates are degrees of longitude and latitude, by their units. */
export function areInDegrees(arrays: readonly ZarrArray[]): boolean {
  const units = arrays.map((array) => text(array, "units"));
  return (
    units.some((unit) => /^degrees?_n/i.test(unit)) &&
    units.some((unit) => /^degrees?_e/i.test(unit))
  );
}

/** How GDAL opens an array. */
export function zarrSource(folder: string, { name }: ZarrArray): string {
  return name === "" ? folder : `ZARR:"${folder}":/${name}`;
}

export function toVariables(folder: string, arrays: readonly ZarrArray[]): Variable[] {
  return arrays.map((array) => ({
    source: zarrSource(folder, array),
    name: array.name,
    shape: array.shape,
  }));
}

export interface ZarrSlice {
  readonly source: string;
  readonly label: string;
  readonly time: string | undefined;
}

/** The array with the values along a dimension; undefined: there is none. */
export function coordinateOf(
  arrays: readonly ZarrArray[],
  { name }: ZarrArray,
  dimension: string,
): ZarrArray | undefined {
  const group = name.slice(0, name.lastIndexOf("/") + 1);
  return arrays.find((each) => each.name === `${group}${dimension}` && each.shape.length === 1);
}

/**
 * The grids of an array with more dimensions than rows and columns, one for each time and level.
 * `values` are those along a dimension, by its name, as far as they are known.
 */
export function sliceArray(
  source: string,
  array: ZarrArray,
  arrays: readonly ZarrArray[],
  values: ReadonlyMap<string, readonly number[]>,
): ZarrSlice[] {
  const name = array.name.split("/").at(-1) ?? "";
  let slices: ZarrSlice[] = [{ source, label: name, time: undefined }];
  for (const [at, size] of array.shape.slice(0, -2).entries()) {
    const dimension = array.dimensions[at] ?? `dimension ${at + 1}`;
    const coordinate = coordinateOf(arrays, array, dimension);
    slices = slices.flatMap((slice) =>
      Array.from({ length: size }, (_, index) => {
        const value = values.get(dimension)?.[index];
        const time =
          value === undefined
            ? undefined
            : countTime(value, text(coordinate, "units"), text(coordinate, "calendar"));
        return {
          source: `${slice.source}:${index}`,
          label: `${slice.label} ${time ?? `${dimension}=${value ?? index}`}`,
          time: time ?? slice.time,
        };
      }),
    );
  }
  return slices;
}

/** Values are packed: `scale_factor` and `add_offset` of CF. */
export function packingOf({ attributes }: ZarrArray): { scale: number; offset: number } {
  const number = (key: string, fallback: number) => {
    const found = attributes[key];
    return typeof found === "number" && Number.isFinite(found) ? found : fallback;
  };
  return { scale: number("scale_factor", 1), offset: number("add_offset", 0) };
}
