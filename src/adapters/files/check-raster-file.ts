import { detectContent, detectedBytes, rasterDriverOf } from "../../core/files/detect-content.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import type { ByteSource } from "../cog/byte-source.ts";
import { withFile } from "../cog/byte-source.ts";
import { findHdf4Reference } from "./find-hdf4-reference.ts";
import { findHdf5Reference } from "./find-hdf5-reference.ts";
import { findHfaReference } from "./find-hfa-reference.ts";
import { findJp2Reference } from "./find-jp2-reference.ts";
import { findTiffReference } from "./find-tiff-reference.ts";

export interface CheckedRaster {
  /** What the content is, in words. */
  readonly content: string;
  /** The only driver that may open it; undefined for content that is not accepted. */
  readonly driver: string | undefined;
  readonly problem: FileProblem | undefined;
}

/** Checks a raster before GDAL sees it: which driver its content allows, and what it refers to. */
export function checkRasterFile(file: string): Promise<CheckedRaster> {
  return withFile(file, async (source) => {
    const content = detectContent(await source.read(0, detectedBytes));
    const driver = rasterDriverOf(content);
    const find = driver === undefined ? undefined : references[driver];
    return { content: content.name, driver, problem: await find?.(source) };
  });
}

/** PNG, JPEG, GRIB and NetCDF 3 have no part that names another file. */
const references: Readonly<
  Record<string, (source: ByteSource) => Promise<FileProblem | undefined>>
> = {
  GTiff: findTiffReference,
  JP2OpenJPEG: findJp2Reference,
  HFA: findHfaReference,
  HDF5: findHdf5Reference,
  HDF4: findHdf4Reference,
};
