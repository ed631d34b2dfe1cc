import type { GdalRunOptions } from "./gdal.ts";

/** Drivers that would fetch from addresses that a file names. */
const remoteDrivers = new Set(
  (
    "WMS,WMTS,WCS,HTTP,OGCAPI,STACIT,STACTA,DAAS,EEDA,EEDAI,PLMosaic,PLSCENES,NGW,WFS,OAPIF,CSW," +
    "Elasticsearch,Carto,AmigoCloud"
  ).split(","),
);

export function isRemoteDriver(name: string): boolean {
  return remoteDrivers.has(name);
}

/**
 * The environment of every run of GDAL. Sources are submitted by partners: a file must not make
 * GDAL read other files by name, run code, or call other hosts.
 */
export function gdalEnvironment(
  { workDir, env, drivers }: Pick<GdalRunOptions, "workDir" | "env" | "drivers">,
  installed: readonly string[],
): Record<string, string> {
  return {
    LC_ALL: "C.UTF-8",
    HOME: workDir,
    CPL_TMPDIR: workDir,
    GDAL_CACHEMAX: "256",
    GDAL_VRT_ENABLE_PYTHON: "NO",
    GDAL_VRT_ENABLE_RAWRASTERBAND: "NO",
    PROJ_NETWORK: "OFF",
    // GDAL would put another system in the place of one that EPSG calls deprecated: EASE-Grid 2.0 on an
    // ellipsoid for EASE-Grid on a sphere (EPSG:3408), kilometres apart.
    OSR_USE_NON_DEPRECATED: "NO",
    // GDAL would write a file with statistics beside the source, and so into storage.
    GDAL_PAM_ENABLED: "NO",
    // No run reads over the network: sources are fetched before.
    CPL_VSIL_CURL_ALLOWED_FILENAME: "none",
    ...env,
    GDAL_SKIP: driversToSkip(installed, drivers).join(","),
  };
}

/** GDAL takes no list of allowed drivers, only one of drivers to leave out, raster or vector. */
function driversToSkip(
  installed: readonly string[],
  allowed: readonly string[] | undefined,
): readonly string[] {
  if (allowed === undefined) return installed.filter(isRemoteDriver);
  const kept = new Set(allowed);
  return installed.filter((name) => !kept.has(name));
}
