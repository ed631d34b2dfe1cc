/**
 * Reads from PROJ's messages which operation it used between two systems and which grids it lacked,
 * and asks PROJ's own database how exact the operation is and which of the grids cover the place.
 */
import { z } from "zod";

export const transformation = z.object({
  /** PROJ's name of it, such as "DHDN to WGS 84 (2)". */
  operation: z.string(),
  /** In metres, as PROJ's database has it. Null: unknown, as where no datum shift is known. */
  accuracy: z.number().nullable(),
  /** Grids of finer operations for this place that are not installed. */
  missing_grids: z.array(z.string()).readonly(),
});
export type Transformation = z.infer<typeof transformation>;

/** The settings under which GDAL writes these messages to stderr. */
export const tellTransformation: Readonly<Record<string, string>> = {
  CPL_DEBUG: "PROJ",
  PROJ_DEBUG: "2",
};

/** What PROJ's messages say. */
export interface UsedOperation {
  readonly operation: string;
  /** The steps between datums; none where the systems have one datum. */
  readonly shifts: readonly string[];
  readonly lackedGrids: readonly string[];
}

const used = /Using coordinate operation (.+?)(?: as a fallback due to .*)?$/m;
const opened = /pj_open_lib\(([\w.-]+)\): call fopen\(([^)]*)\) - (failed|succeeded)/g;
/** Steps between two notations of one datum. */
const exact = /^(?:Conversion from|Null geographic offset|Transformation from .* altered to use) /;
const mostGrids = 100;
const mostShown = 20;
const usualDatabase = "/usr/share/proj/proj.db";

/** The path of PROJ's database. */
export function readDatabase(stderr: string): string {
  const found = [...stderr.matchAll(opened)].find(
    ([, name, , end]) => name === "proj.db" && end === "succeeded",
  );
  return found?.[2] ?? usualDatabase;
}

/** Undefined: PROJ said nothing, as where it has one operation only. */
export function readOperation(stderr: string): UsedOperation | undefined {
  const steps = used.exec(stderr)?.[1]?.split(" + ");
  if (steps === undefined) return undefined;
  // Other steps only project or swap axes.
  const shifts = steps.filter((step) => step.includes(" to ") && !step.includes("OGC:CRS84 to"));
  // The operation is the same in both directions.
  const named = shifts.map((step) => step.replace(/^Inverse of (?=.* to )/, ""));
  return {
    operation: (shifts.length === 0 ? steps : named).join(" + "),
    shifts: named,
    lackedGrids: readLackedGrids(stderr),
  };
}

/** Grids that PROJ looked for in vain, whether or not they cover the place. */
export function readLackedGrids(stderr: string): string[] {
  const files = [...stderr.matchAll(opened)].map(([, name = "", , end = ""]) => ({
    name,
    isThere: end === "succeeded",
  }));
  const lacked = files.filter(({ name, isThere }, index) => {
    // PROJ tries the newer name of a grid first, and then the older one.
    return !isThere && name.endsWith(".tif") && files[index + 1]?.isThere !== true;
  });
  return [...new Set(lacked.map(({ name }) => name))].slice(0, mostGrids);
}

/** A query of PROJ's database: the accuracies of the steps, and the lacked grids that cover a place. */
export function accuracyQuery(
  { shifts, lackedGrids }: UsedOperation,
  place: readonly [number, number],
): string {
  const list = (texts: readonly string[]) =>
    texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(", ");
  const steps = `SELECT name, NULL AS grid, accuracy, 1 AS covers, 1 AS direct FROM coordinate_operation_view WHERE deprecated = 0 AND name IN (${list(shifts)})`;
  const grids = `SELECT NULL, a.proj_grid_name, t.accuracy, ${isInside(place)}, t.target_crs_code = '4326' FROM grid_alternatives a JOIN grid_transformation t ON t.grid_name = a.original_grid_name JOIN usage u ON u.object_table_name = 'grid_transformation' AND u.object_auth_name = t.auth_name AND u.object_code = t.code JOIN extent e ON e.auth_name = u.extent_auth_name AND e.code = u.extent_code WHERE a.proj_grid_name IN (${list(lackedGrids)})`;
  return `${steps} UNION ALL ${grids}`;
}

/**
 * Where PROJ has one candidate only, it uses it without a word: the finest one in its database that covers
 * the place and needs no grid. Undefined: the system has the datum WGS 84, or no name.
 */
export function candidateQuery(
  crs: string,
  [lon, lat]: readonly [number, number],
): string | undefined {
  const system = baseSystem(crs);
  if (system === undefined) return undefined;
  return `SELECT v.name, v.accuracy FROM coordinate_operation_view v JOIN usage u ON u.object_table_name = v.table_name AND u.object_auth_name = v.auth_name AND u.object_code = v.code JOIN extent e ON e.auth_name = u.extent_auth_name AND e.code = u.extent_code WHERE (v.source_crs_auth_name, v.source_crs_code) IN (${system}) AND v.target_crs_auth_name = 'EPSG' AND v.target_crs_code = '4326' AND v.deprecated = 0 AND v.auth_name IN (${preferred("v")}) AND v.table_name <> 'grid_transformation' AND NOT EXISTS (SELECT 1 FROM concatenated_operation_step s JOIN grid_transformation t ON t.auth_name = s.step_auth_name AND t.code = s.step_code WHERE s.operation_auth_name = v.auth_name AND s.operation_code = v.code) AND ${isInside([lon, lat])} ORDER BY v.accuracy LIMIT 1`;
}

/** The grids that cover a place, of operations from a system to WGS 84. Undefined: it has that datum. */
export function gridsQuery(crs: string, place: readonly [number, number]): string | undefined {
  const system = baseSystem(crs);
  if (system === undefined) return undefined;
  return `SELECT DISTINCT a.proj_grid_name AS grid FROM grid_transformation t JOIN grid_alternatives a ON a.original_grid_name = t.grid_name JOIN usage u ON u.object_table_name = 'grid_transformation' AND u.object_auth_name = t.auth_name AND u.object_code = t.code JOIN extent e ON e.auth_name = u.extent_auth_name AND e.code = u.extent_code WHERE (t.source_crs_auth_name, t.source_crs_code) IN (${system}) AND t.target_crs_auth_name = 'EPSG' AND t.target_crs_code = '4326' AND t.deprecated = 0 AND t.auth_name IN (${preferred("t")}) AND a.proj_grid_name <> '' AND ${isInside(place)}`;
}

/** PROJ takes operations of other authorities for their own systems only, such as those of Esri. */
const preferred = (table: string): string => `'PROJ', 'EPSG', ${table}.source_crs_auth_name`;

/** From what `ogrinfo` answers to `gridsQuery`. */
export function readGrids(answer: string): string[] {
  return [...answer.matchAll(/^ {2}grid \(.*?\) = (.*)$/gm)].map(([, name = ""]) => name);
}

/** Usual systems on WGS 84, which need no look into the database. */
const onWgs84 = /^(?:EPSG:(?:32[67]\d\d|3857|3395|4326|4979)|OGC:CRS84h?)$/i;

/** A query of the geographic system below a code or WKT. Undefined: it is WGS 84, or has no name. */
function baseSystem(crs: string): string | undefined {
  const [, authority, code] = /^(\w+):(\w+)$/.exec(crs.trim()) ?? [];
  const named = /(?:BASEGEO(?:G|D)CRS|GEO(?:G|D)CRS|GEOGCS)\["([^"]+)"/i.exec(crs)?.[1];
  if (code === undefined && (named === undefined || named === "WGS 84")) return undefined;
  if (onWgs84.test(crs.trim())) return undefined;
  const quoted = (text = "") => `'${text.replaceAll("'", "''")}'`;
  const ofCode = `SELECT g.auth_name, g.code FROM geodetic_crs g LEFT JOIN compound_crs c ON c.auth_name = ${quoted(authority)} AND c.code = ${quoted(code)} LEFT JOIN projected_crs p ON p.auth_name = coalesce(c.horiz_crs_auth_name, ${quoted(authority)}) AND p.code = coalesce(c.horiz_crs_code, ${quoted(code)}) WHERE g.auth_name = coalesce(p.geodetic_crs_auth_name, c.horiz_crs_auth_name, ${quoted(authority)}) AND g.code = coalesce(p.geodetic_crs_code, c.horiz_crs_code, ${quoted(code)})`;
  const ofName = `SELECT auth_name, code FROM geodetic_crs WHERE name = ${quoted(named)} AND deprecated = 0`;
  return code === undefined ? ofName : ofCode;
}

/** From what `ogrinfo` answers to `candidateQuery`. */
export function readCandidate(answer: string): Transformation | undefined {
  const operation = /^ {2}name \(.*?\) = (.*)$/m.exec(answer)?.[1];
  const accuracy = Number(/^ {2}accuracy \(.*?\) = (\S+)$/m.exec(answer)?.[1] ?? Number.NaN);
  if (operation === undefined) return undefined;
  return { operation, accuracy: Number.isFinite(accuracy) ? accuracy : null, missing_grids: [] };
}

function isInside([lon, lat]: readonly [number, number]): string {
  return `${lat} BETWEEN e.south_lat AND e.north_lat AND CASE WHEN e.west_lon <= e.east_lon THEN ${lon} BETWEEN e.west_lon AND e.east_lon ELSE ${lon} >= e.west_lon OR ${lon} <= e.east_lon END`;
}

/** What is recorded of an operation, from what `ogrinfo` answers to `accuracyQuery`. */
export function describeTransformation(found: UsedOperation, answer: string): Transformation {
  const rows = answer.split(/^OGRFeature/m).map((row) => ({
    name: /^ {2}name \(.*?\) = (.*)$/m.exec(row)?.[1],
    grid: /^ {2}grid \(.*?\) = (.*)$/m.exec(row)?.[1],
    accuracy: Number(/^ {2}accuracy \(.*?\) = (\S+)$/m.exec(row)?.[1] ?? Number.NaN),
    covers: /^ {2}covers \(.*?\) = 1$/m.test(row),
    isDirect: /^ {2}direct \(.*?\) = 1$/m.test(row),
  }));
  const accuracies = found.shifts.map((shift) =>
    exact.test(shift)
      ? 0
      : Math.max(...rows.filter(({ name }) => name === shift).map(({ accuracy }) => accuracy)),
  );
  const sum = accuracies.reduce((total, each) => total + each, 0);
  const accuracy = Number.isFinite(sum) ? Math.round(sum * 1000) / 1000 : null;
  const missing = found.lackedGrids.filter((name) => {
    const all = rows.filter(({ grid }) => grid === name);
    // A grid between other datums is finer than the whole way to WGS 84.
    const direct = all.filter(({ isDirect }) => isDirect);
    const known = direct.length > 0 ? direct : all;
    const isFiner = (row: { accuracy: number }) => accuracy === null || row.accuracy < accuracy;
    return known.length === 0 || known.some((row) => row.covers && isFiner(row));
  });
  return { operation: found.operation, accuracy, missing_grids: missing.slice(0, mostShown) };
}
