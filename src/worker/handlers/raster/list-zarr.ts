/** Finds the arrays of a Zarr in the task's folder, and the grids that they hold. */
import { readFile, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { ignoreMissing } from "../../../adapters/runtime/error-code.ts";
import { liesOnItsSide } from "../../../core/raster/place-array.ts";
import { readVariable } from "../../../core/raster/variables.ts";
import type { Variable, VariableGrid } from "../../../core/raster/variables.ts";
import type { ZarrArray } from "../../../core/raster/zarr.ts";
import {
  areInDegrees,
  coordinateOf,
  packingOf,
  readZarr2,
  readZarr3,
  sliceArray,
  text,
  zarrSource,
} from "../../../core/raster/zarr.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { reading, runGdal, temporaryFile } from "./run-gdal.ts";

export interface Zarr {
  readonly arrays: readonly ZarrArray[];
  readonly isThree: boolean;
  readonly isInDegrees: boolean;
}

const mostDepth = 4;
const mostArrays = 1000;
const longestText = 1024 * 1024;

export async function listZarr(folder: string): Promise<Zarr> {
  const arrays: ZarrArray[] = [];
  let isThree = false;

  async function visit(name: string, depth: number): Promise<void> {
    if (arrays.length >= mostArrays) return;
    const read = (file: string) => readSmall(path.join(folder, name, file));
    const json = await read("zarr.json");
    if (json !== undefined) isThree = true;
    const old = await read(".zarray");
    const found =
      old !== undefined
        ? readZarr2(name, old, (await read(".zattrs")) ?? "")
        : json === undefined
          ? undefined
          : readZarr3(name, json);
    if (found !== undefined) arrays.push(found);
    // Below an array are its chunks.
    if (found !== undefined || depth >= mostDepth) return;
    const entries = await readdir(path.join(folder, name), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      // GDAL would take these signs for a part of its own syntax.
      if (!entry.isDirectory() || /[":]/.test(entry.name)) continue;
      await visit(name === "" ? entry.name : `${name}/${entry.name}`, depth + 1);
    }
  }
  await visit("", 0);
  return { arrays, isThree, isInDegrees: areInDegrees(arrays) };
}

async function readSmall(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(ignoreMissing);
  if (found?.isFile() !== true || found.size > longestText) return undefined;
  return readFile(file, "utf8");
}

/** The grids of an array, one for each time and level. */
export async function readZarrGrids(
  context: HandlerContext,
  folder: string,
  { arrays }: Zarr,
  variable: Variable,
  info: (source: string) => Promise<string>,
): Promise<{ variable: Variable; grid: VariableGrid }[]> {
  const array = arrays.find(({ name }) => name === variable.name);
  if (array === undefined) return [];
  const values = new Map<string, readonly number[]>();
  const further = array.shape.slice(0, -2);
  for (const dimension of array.dimensions.slice(0, further.length)) {
    const coordinate = coordinateOf(arrays, array, dimension);
    if (coordinate === undefined) continue;
    values.set(dimension, await readCoordinate(context, folder, coordinate));
  }
  const slices = sliceArray(variable.source, array, arrays, values);
  const [first] = slices;
  if (first === undefined) return [];
  const grid = readVariable(await info(first.source), variable.name);
  const [band] = grid?.bands ?? [];
  if (grid === undefined || band === undefined) return [];
  const packing = packingOf(array);
  return slices.map(({ source, label, time }) => ({
    variable: { ...variable, source },
    grid: { ...grid, bands: [{ ...band, ...packing, label, time }] },
  }));
}

/** The reason why an array has no place; undefined: its rows are no longitudes. */
export function refusePlace({ arrays }: Zarr, name: string): string | undefined {
  const array = arrays.find((each) => each.name === name);
  const [rows, columns] = (array?.dimensions ?? []).slice(-2).map((dimension) => {
    const coordinate = array && coordinateOf(arrays, array, dimension);
    return { name: dimension, unit: text(coordinate, "units") };
  });
  if (!liesOnItsSide(rows, columns)) return undefined;
  return `The array "${name}" has its longitudes in rows and its latitudes in columns.`;
}

async function readCoordinate(
  context: HandlerContext,
  folder: string,
  coordinate: ZarrArray,
): Promise<readonly number[]> {
  const file = temporaryFile(context, "coordinate.img");
  const source = zarrSource(folder, coordinate);
  const options = {
    ...reading(context, { file: folder, driver: "Zarr" }, "ENVI"),
    // GDAL opens the ENVI file that it has written, and finds its header in the folder.
    env: { GDAL_DISABLE_READDIR_ON_OPEN: "FALSE" },
  };
  const args = ["-q", "-of", "ENVI", "-ot", "Float64", source, file];
  await runGdal(context, "gdal_translate", args, options);
  const bytes = await readFile(file);
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
}
