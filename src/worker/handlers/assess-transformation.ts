/** Tells which operation PROJ uses from a system to WGS 84, how exact it is, and which grids it lacks. */
import {
  accuracyQuery,
  candidateQuery,
  describeTransformation,
  readCandidate,
  gridsQuery,
  readDatabase,
  readGrids,
  readLackedGrids,
  readOperation,
  tellTransformation,
} from "../../core/raster/transformation.ts";
import type { Transformation } from "../../core/raster/transformation.ts";
import type { HandlerContext } from "../define-handler.ts";

/**
 * `messages` are those of a run of GDAL that transformed `place`, in longitude and latitude, from or to the
 * system `crs`: a code or WKT. Undefined: PROJ used no operation between datums.
 */
export async function assessTransformation(
  { gdal, workDir, signal }: HandlerContext,
  crs: string,
  messages: string,
  [lon = Number.NaN, lat = Number.NaN]: readonly number[],
): Promise<Transformation | undefined> {
  const used = readOperation(messages);
  const isPlaced = Number.isFinite(lon) && Number.isFinite(lat);
  const ask = async (query: string) => {
    const args = ["-ro", "-q", readDatabase(messages), "-sql", query];
    return (await gdal.run("ogrinfo", args, { drivers: ["SQLite"], workDir, signal })).stdout;
  };
  // The WebAssembly engine has no grids, and looks for each once only, not in each run.
  const grids = gdal.engine === "wasm" && isPlaced ? gridsQuery(crs, [lon, lat]) : undefined;
  const lackedGrids = grids === undefined ? readLackedGrids(messages) : readGrids(await ask(grids));
  if (used === undefined) {
    const query = isPlaced ? candidateQuery(crs, [lon, lat]) : undefined;
    const candidate = query === undefined ? undefined : readCandidate(await ask(query));
    if (candidate === undefined || lackedGrids.length === 0) return candidate;
    const { operation } = candidate;
    const silent = { operation, shifts: [operation], lackedGrids };
    return describeTransformation(silent, await ask(accuracyQuery(silent, [lon, lat])));
  }
  if (used.shifts.length === 0) {
    return { operation: used.operation, accuracy: 0, missing_grids: [] };
  }
  const found = { ...used, lackedGrids };
  const answer = isPlaced ? await ask(accuracyQuery(found, [lon, lat])) : "";
  return describeTransformation(found, answer);
}

/** The operation from a system to WGS 84 at a place of it. */
export async function findTransformation(
  context: HandlerContext,
  crs: string,
  [x, y]: readonly [number, number],
): Promise<Transformation | undefined> {
  const { gdal, workDir, signal } = context;
  const args = ["-s_srs", crs, "-t_srs", "OGC:CRS84", "-output_xy"];
  const options = { drivers: [], stdin: `${x} ${y}\n`, env: tellTransformation, workDir, signal };
  const { stdout, stderr } = await gdal.run("gdaltransform", args, options);
  return assessTransformation(context, crs, stderr, stdout.trim().split(/\s+/).map(Number));
}

/** The same from a place in longitude and latitude. */
export async function findTransformationAt(
  context: HandlerContext,
  crs: string,
  [lon, lat]: readonly [number, number],
): Promise<Transformation | undefined> {
  const { gdal, workDir, signal } = context;
  const args = ["-s_srs", "OGC:CRS84", "-t_srs", crs, "-output_xy"];
  const options = {
    drivers: [],
    stdin: `${lon} ${lat}\n`,
    env: tellTransformation,
    workDir,
    signal,
  };
  const { stderr } = await gdal.run("gdaltransform", args, options);
  return assessTransformation(context, crs, stderr, [lon, lat]);
}

/** Datums that are WGS 84 on a map: no grid is worth a word. */
const alike = /^(?:NAD83|ETRS89) to WGS 84 \(1\)$/;

/** Undefined: nothing about the operation needs a word. */
export function warnOfTransformation(
  used: Transformation | undefined,
):
  | { readonly code: "TRANSFORMATION_GRID_MISSING" | "TRANSFORMATION_UNKNOWN"; text: string }
  | undefined {
  if (used === undefined) return undefined;
  if (used.missing_grids.length > 0 && !alike.test(used.operation)) {
    const grids = used.missing_grids.slice(0, 5).join(", ");
    const exact = used.accuracy === null ? "" : ` (exact to ${used.accuracy} m)`;
    return {
      code: "TRANSFORMATION_GRID_MISSING",
      text: `PROJ uses "${used.operation}"${exact} to WGS 84; finer operations need grids that are not installed: ${grids}.`,
    };
  }
  if (!used.operation.includes("Ballpark")) return undefined;
  return {
    code: "TRANSFORMATION_UNKNOWN",
    text: `PROJ knows no transformation from its datum to WGS 84 ("${used.operation}"): places may be wrong by hundreds of metres.`,
  };
}
