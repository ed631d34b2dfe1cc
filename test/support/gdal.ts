import { accessSync, constants } from "node:fs";

const folders = ["/usr/local/bin", "/usr/bin"];
const programs = ["gdalinfo", "gdal_translate", "gdalwarp", "ogr2ogr", "ogrinfo"];

/**
 * Whether GDAL's programs are installed. Without them handlers run GDAL as WebAssembly, which lacks
 * codecs (JPEG, ZSTD) and differs in details from release to release.
 */
export const hasGdal = programs.every((program) =>
  folders.some((folder) => isProgram(`${folder}/${program}`)),
);

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
