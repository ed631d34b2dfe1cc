/**
 * Turns a file of many grids (NetCDF, HDF, GRIB, Zarr) into one GeoTIFF of the task: its variables and
 * times become bands with names, packed values are unpacked.
 */
import path from "node:path";
import type { CheckedRaster } from "../../../adapters/files/check-raster-file.ts";
import { checkRasterFile } from "../../../adapters/files/check-raster-file.ts";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { openZip } from "../../../adapters/zip/open-zip.ts";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import { arrayRemedy, makeFinding } from "../../../core/raster/finding.ts";
import type { RasterFindingCode } from "../../../core/raster/finding.ts";
import {
  chooseVariables,
  isSideways,
  listVariables,
  mostLayers,
  readVariable,
} from "../../../core/raster/variables.ts";
import type { Variable } from "../../../core/raster/variables.ts";
import type { Placement } from "../../../core/raster/place-array.ts";
import { toVariables } from "../../../core/raster/zarr.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { listZarr, readZarrGrids, refusePlace } from "./list-zarr.ts";
import type { Zarr } from "./list-zarr.ts";
import { RasterRejected } from "./plan-source.ts";
import { createPlaceVariable } from "./place-variables.ts";
import type { PlaceVariable } from "./place-variables.ts";
import { reading, runGdal, temporaryFile } from "./run-gdal.ts";
import type { Unpacked } from "./run-gdal.ts";
import { stackGrids } from "./stack-grids.ts";
import type { FoundGrid } from "./stack-grids.ts";

/** The drivers that open each format, the most suitable first, and how a file is named for them. */
const formats: Readonly<
  Record<string, readonly { driver: string; also?: string; name?: string }[]>
> = {
  netCDF: [{ driver: "netCDF", name: "NETCDF" }],
  // Most HDF5 files of today follow NetCDF's conventions, and only its driver places them.
  HDF5: [
    { driver: "netCDF", name: "NETCDF" },
    { driver: "HDF5", also: "HDF5Image" },
  ],
  HDF4: [{ driver: "HDF4", also: "HDF4Image" }],
  GRIB: [{ driver: "GRIB" }],
  Zarr: [{ driver: "Zarr" }],
};

/** Undefined: the file is a raster of another format. Nothing is unpacked without a sandbox. */
export async function unpackSource(
  context: HandlerContext,
  file: string,
  display: string,
  wanted: string | undefined,
): Promise<Unpacked | undefined> {
  const found = await checkRasterFile(file);
  if (found.driver === undefined && found.content === "zip archive") {
    const folder = await unzipZarr(context, file);
    return folder === undefined ? undefined : unpackZarr(context, folder, display, wanted);
  }
  return unpackGrids(context, { file, ...found }, display, wanted);
}

/** A folder of Zarr, as `openSource` or `unzipZarr` has put it into the task's folder. */
export async function unpackZarr(
  context: HandlerContext,
  folder: string,
  display: string,
  wanted: string | undefined,
): Promise<Unpacked | undefined> {
  const zarr = await listZarr(folder);
  const content = zarr.isThree ? zarr3 : "Zarr";
  const source = { file: folder, driver: "Zarr", content, problem: undefined, zarr };
  return unpackGrids(context, source, display, wanted);
}

const zarr3 = "Zarr 3";

const zarrMark = /(?:^|\/)(?:\.zgroup|\.zarray|zarr\.json)$/;

/** Undefined: the archive holds no Zarr. */
async function unzipZarr(context: HandlerContext, file: string): Promise<string | undefined> {
  const zip = await openZip(file);
  try {
    const marks = zip.entries.map(({ name }) => name).filter((name) => zarrMark.test(name));
    const [top] = marks.toSorted((a, b) => a.split("/").length - b.split("/").length);
    if (top === undefined) return undefined;
    await ensureSpace(
      context.workDir,
      zip.entries.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    const folder = temporaryFile(context, "unzipped.zarr");
    await zip.extractTo(folder, { signal: context.signal });
    return path.join(folder, path.posix.dirname(top));
  } finally {
    zip.close();
  }
}

interface Found extends Pick<CheckedRaster, "driver" | "content" | "problem"> {
  readonly file: string;
  readonly zarr?: Zarr;
}

async function unpackGrids(
  context: HandlerContext,
  { file, driver, content, problem, zarr }: Found,
  display: string,
  wanted: string | undefined,
): Promise<Unpacked | undefined> {
  const ways = driver === undefined ? undefined : formats[driver];
  if (driver === undefined || ways === undefined) return undefined;
  const refuse: Refuse = (code, text, other) =>
    new RasterRejected(display, [makeFinding(code, text, other)]);
  if (problem !== undefined) throw refuse("EXTERNAL_REFERENCE", problem.message);
  const { gdal } = context;
  const usable = ways.filter((way) => gdal.capabilities.rasterDrivers.includes(way.driver));
  if (usable.length === 0) {
    const text = `It is ${content}, which this worker's GDAL (${gdal.engine} ${gdal.version}) does not read.`;
    throw refuse("FORMAT_NOT_SUPPORTED", text);
  }
  if (gdal.sandbox === "none" && driver !== "GRIB") {
    const text = `It is ${content}, which can refer to other files and is read in a sandbox only.`;
    throw refuse("FORMAT_NOT_SUPPORTED", text);
  }
  let isOpen = false;
  for (const way of usable) {
    const drivers = { file, driver: way.driver };
    const also = way.also === undefined ? [] : [way.also];
    const info = async (...args: string[]) => {
      const options = reading(context, drivers, ...also);
      return (await runGdal(context, "gdalinfo", ["-json", ...args], options)).stdout;
    };
    const whole = way.name === undefined ? file : `${way.name}:"${file}"`;
    const json = await info(whole).catch(unlessDamaged);
    if (json === undefined) continue;
    isOpen = true;
    const listed = zarr === undefined ? listVariables(json) : toVariables(file, zarr.arrays);
    const variables =
      listed.length === 0
        ? [{ source: whole, name: "", shape: [] }]
        : chooseVariables(listed, wanted);
    if (typeof variables === "string") {
      throw refuse(wanted === undefined ? "NO_GRID" : "VARIABLE_NOT_FOUND", variables);
    }
    const isInDegrees = zarr?.isInDegrees ?? false;
    const opened = { ...drivers, also, content, isInDegrees };
    try {
      if (zarr !== undefined) refuseMany(refuse, variables.map(countLayers));
      const found: FoundGrid[] = [];
      const placeOf: PlaceVariable =
        zarr === undefined
          ? createPlaceVariable(context, { file, driver })
          : async (name) => refusePlace(zarr, name);
      for (const variable of variables) {
        const read =
          zarr === undefined
            ? [{ variable, grid: readVariable(await info(variable.source), variable.name) }]
            : await readZarrGrids(context, file, zarr, variable, info);
        if (!read.some(({ grid }) => grid !== undefined && grid.bands.length > 0)) continue;
        const place = await placeOf(variable.name);
        if (typeof place === "string") {
          throw refuse("GEOTRANSFORM_MISSING", place, { remedy: arrayRemedy });
        }
        for (const { variable: each, grid } of read) {
          if (grid !== undefined) found.push({ variable: each, grid, place });
        }
      }
      const [placed] = found;
      if (placed === undefined) continue;
      // Grids of the same size can lie elsewhere.
      const grids = found.filter(({ place }) => isSamePlace(place, placed.place));
      const { latitude } = placed.grid;
      const latitudes =
        way.name === undefined || latitude === undefined || placed.place !== undefined
          ? undefined
          : await info("-mm", `${whole}:${latitude}`).catch(unlessDamaged);
      if (latitudes !== undefined && isSideways(placed.grid, latitudes)) {
        const text = `The array "${placed.variable.name}" has its latitudes in columns, not in rows.`;
        throw refuse("GEOTRANSFORM_MISSING", text, { remedy: arrayRemedy });
      }
      refuseMany(
        refuse,
        grids.map(({ variable, grid }) => [variable.name, grid.bands.length]),
      );
      return await stackGrids(context, opened, grids);
    } catch (error) {
      throw content === zarr3 && error instanceof GdalError
        ? refuseZarr3(context, refuse)
        : refusalOf(error, refuse);
    }
  }
  if (isOpen) throw refuse("NO_GRID", `It is ${content} without a grid.`);
  if (content === zarr3) throw refuseZarr3(context, refuse);
  throw refuse("FILE_CORRUPTED", `It is ${content}, and cannot be opened.`);
}

const isSamePlace = (a: Placement | undefined, b: Placement | undefined): boolean =>
  a?.crs === b?.crs && a?.transform.join() === b?.transform.join();

function refuseZarr3({ gdal }: HandlerContext, refuse: Refuse): RasterRejected {
  const text = `It is ${zarr3}, which this worker's GDAL (${gdal.engine} ${gdal.version}) does not read. xarray for Python writes it as Zarr 2: to_zarr(path, zarr_format=2).`;
  return refuse("FORMAT_NOT_SUPPORTED", text);
}

type Refuse = (
  code: RasterFindingCode,
  text: string,
  other?: { readonly remedy: string },
) => RasterRejected;

const countLayers = ({ name, shape }: Variable): readonly [string, number] => [
  name,
  shape.slice(0, -2).reduce((product, size) => product * size, 1),
];

function refuseMany(refuse: Refuse, layers: readonly (readonly [string, number])[]): void {
  const count = layers.reduce((sum, [, each]) => sum + each, 0);
  if (count <= mostLayers) return;
  const names = layers.map(([name, each]) => `${name} (${each})`).join(", ");
  throw refuse(
    "TOO_MANY_LAYERS",
    `It holds ${count} layers, and ${mostLayers} are the most: ${names}.`,
  );
}

/** GDAL opened the file, and failed with one of its variables. */
function refusalOf(error: unknown, refuse: Refuse): unknown {
  if (!(error instanceof GdalError) || error.category === "transient") return error;
  const isCodec = error.code === "UNSUPPORTED_CODEC" || codecWords.test(error.lines.join("\n"));
  return isCodec
    ? refuse("CODEC_NOT_SUPPORTED", `Its compression cannot be read here (${error.message}).`)
    : refuse("FILE_CORRUPTED", `A variable cannot be read (${error.message}).`);
}

/** Of Zarr, HDF5 and GRIB, for a way to compress that this GDAL was built without. */
const codecWords =
  /(?:de)?compressor|unsupported filter|filter .*not (?:found|registered|available)|\bcodec\b/i;

function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof GdalError) || error.category === "transient") throw error;
}
