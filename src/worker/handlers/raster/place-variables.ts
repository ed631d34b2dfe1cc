/** Finds the places of arrays of NetCDF, HDF5 and Zarr that GDAL does not place, and turns arrays. */
import { writeFile } from "node:fs/promises";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import {
  findOnlyGrid,
  liesOnItsSide,
  placeOnSide,
  readArrayInfo,
  turnTransform,
} from "../../../core/raster/place-array.ts";
import type { Placement, Turn } from "../../../core/raster/place-array.ts";
import { isHdfEosField, placeHdfEos } from "../../../core/raster/place-hdf-eos.ts";
import { stackVrt } from "../../../core/raster/stack-vrt.ts";
import type { VariableBand } from "../../../core/raster/variables.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { plainOptions } from "./rewrite-source.ts";
import { describeGrid, reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { RasterInput } from "./run-gdal.ts";

/** More coordinates than these are not asked for, nor are longer texts read. */
const mostCoordinates = 200_000;
const structure = "HDFEOS INFORMATION/StructMetadata.0";

/** Undefined: the array has no place of ours. A text is the reason why it cannot be placed. */
export type PlaceVariable = (name: string) => Promise<Placement | string | undefined>;

/** The arrays of one file of NetCDF or HDF5, by what its dimensions and HDF-EOS5 say. */
export function createPlaceVariable(context: HandlerContext, input: RasterInput): PlaceVariable {
  const known = new Map<string, ReturnType<typeof readArrayInfo>>();
  const isThere =
    ["netCDF", "HDF5"].includes(input.driver) &&
    context.gdal.capabilities.programs.includes("gdalmdiminfo");
  const options = reading(context, input);
  async function describe(name: string, ...detailed: string[]) {
    const key = [name, ...detailed].join(" ");
    if (!known.has(key)) {
      const args = [...detailed, "-array", `/${name.replace(/^\/+/, "")}`, input.file];
      const found = await runGdal(context, "gdalmdiminfo", args, options).catch(unlessDamaged);
      known.set(key, found === undefined ? undefined : readArrayInfo(found.stdout));
    }
    return known.get(key);
  }
  async function readAxis(dimension: Dimension | undefined, isDetailed: boolean) {
    if (dimension === undefined || dimension.size > mostCoordinates) return undefined;
    const name = dimension.indexing_variable ?? dimension.name;
    const found = await describe(name, ...(isDetailed ? ["-detailed"] : []));
    if (found === undefined) return undefined;
    const values = Array.isArray(found.values) ? found.values : [];
    return { name: found.name, unit: found.unit, values };
  }

  /** GDAL gives no name to the only grid of a file. */
  async function nameOnly(): Promise<string | undefined> {
    const found = await runGdal(context, "gdalmdiminfo", [input.file], options).catch(
      unlessDamaged,
    );
    return found === undefined ? undefined : findOnlyGrid(found.stdout);
  }

  return async (given) => {
    if (!isThere) return undefined;
    const name = given === "" ? await nameOnly() : given;
    if (name === undefined) return undefined;
    if (isHdfEosField(name)) {
      const text = (await describe(structure, "-detailed"))?.values;
      return typeof text === "string" ? placeHdfEos(text, name) : undefined;
    }
    const dimensions = (await describe(name))?.dimensions ?? [];
    const [rows, columns] = [dimensions.at(-2), dimensions.at(-1)];
    const axes = [await readAxis(rows, false), await readAxis(columns, false)] as const;
    if (!liesOnItsSide(...axes)) return undefined;
    const [east, north] = [await readAxis(rows, true), await readAxis(columns, true)];
    const placed = east && north && placeOnSide(east, north);
    return placed ?? `The coordinates of the array "${name}" are not evenly spaced.`;
  };
}

interface Dimension {
  readonly name: string;
  readonly size: number;
  readonly indexing_variable?: string | undefined;
}

function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof GdalError) || error.category === "transient") throw error;
}

/** Writes a GeoTIFF of the task with rows for columns, pixel by pixel. */
export async function turnPart(
  context: HandlerContext,
  part: string,
  bands: readonly VariableBand[],
  turn: Turn,
): Promise<{ readonly file: string; readonly crs: RasterCrs | null }> {
  const { width, height, crs } = await describeGrid(context, { file: part, driver: "GTiff" });
  const virtual = temporaryFile(context, "side.vrt");
  // Without nodata: every value is copied, none is compared with it.
  const plain = { nodata: undefined, scale: 1, offset: 0, unit: "", label: "", time: undefined };
  const transform = turnTransform(width, height, turn);
  const stacked = bands.map(({ type }, at) => ({ ...plain, type, file: part, number: at + 1 }));
  const virtualText = { width, height, transform, wkt2: undefined, bands: stacked, metadata: {} };
  await writeFile(virtual, stackVrt(virtualText));
  await ensureSpace(context.workDir, width * height * bands.length * 8);
  const file = temporaryFile(context, "turned.tif");
  const [columns, rows] = [String(height), String(width)];
  const args = [
    ...["-q", "-of", "GTiff", ...plainOptions, "-r", "near", "-et", "0"],
    ...["-te", "0", "0", columns, rows, "-ts", columns, rows, virtual, file],
  ];
  const input = { file: virtual, driver: "VRT" };
  await runGdal(context, "gdalwarp", args, reading(context, input, "GTiff"));
  return { file, crs };
}
