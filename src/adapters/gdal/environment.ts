import type { GdalRunOptions } from "./gdal.ts";

/** Drivers that would fetch from addresses that a file names. */
const skipped =
  "WMS,WMTS,WCS,HTTP,OGCAPI,STACIT,STACTA,DAAS,EEDA,EEDAI,PLMosaic,PLSCENES,NGW,WFS,OAPIF,CSW," +
  "Elasticsearch,Carto,AmigoCloud";

/**
 * The environment of every run of GDAL. Sources are submitted by partners: a file must not make
 * GDAL read other files by name, run code, or call other hosts.
 */
export function gdalEnvironment(
  args: readonly string[],
  { workDir, env }: Pick<GdalRunOptions, "workDir" | "env">,
): Record<string, string> {
  const remote = args.filter((arg) => arg.includes("/vsicurl/"));
  return {
    LC_ALL: "C.UTF-8",
    HOME: workDir,
    CPL_TMPDIR: workDir,
    GDAL_CACHEMAX: "256",
    GDAL_SKIP: skipped,
    GDAL_VRT_ENABLE_PYTHON: "NO",
    GDAL_VRT_ENABLE_RAWRASTERBAND: "NO",
    PROJ_NETWORK: "OFF",
    // GDAL would write a file with statistics beside the source, and so into storage.
    GDAL_PAM_ENABLED: "NO",
    ...networkOptions(remote),
    ...env,
  };
}

/**
 * GDAL reads only the file in the arguments over the network: no listing of its folder, no other
 * file.
 */
function networkOptions(remote: readonly string[]): Record<string, string> {
  if (remote.length === 0) return { CPL_VSIL_CURL_ALLOWED_FILENAME: "none" };
  const quick = {
    GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
    GDAL_HTTP_CONNECTTIMEOUT: "10",
    GDAL_HTTP_MAX_RETRY: "3",
    GDAL_HTTP_RETRY_DELAY: "1",
    CPL_VSIL_CURL_CACHE_SIZE: "67108864",
  };
  const [first = "", second] = remote;
  return second === undefined
    ? { ...quick, CPL_VSIL_CURL_ALLOWED_FILENAME: first.slice(first.indexOf("/vsicurl/")) }
    : quick;
}
