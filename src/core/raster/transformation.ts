/** Reads from PROJ's messages which operation it used between two systems, and what it lacked. */
export interface Transformation {
  /** PROJ's name of it, such as "DHDN to WGS 84 (2)". */
  readonly operation: string;
  /** Grids of finer operations that are not installed. */
  readonly missing_grids: readonly string[];
}

/** The settings under which GDAL writes these messages to stderr. */
export const tellTransformation: Readonly<Record<string, string>> = {
  CPL_DEBUG: "PROJ",
  PROJ_DEBUG: "2",
};

const used = /Using coordinate operation (.+?)(?: as a fallback due to .*)?$/m;
const lacked = /pj_open_lib\(([\w.-]+\.(?:tif|gsb|gtx))\): call fopen\([^)]*\) - failed/g;
/** Steps that only project or swap axes. */
const plain =
  /^(?:Inverse of )?(?:axis order change.*|.*(?:UTM|zone|Grid|Mercator|Lambert|projection).*)$/i;
const mostGrids = 20;

/** Undefined: PROJ said nothing, as where the systems have one datum. */
export function readTransformation(stderr: string): Transformation | undefined {
  const steps = used.exec(stderr)?.[1]?.split(" + ");
  if (steps === undefined) return undefined;
  const between = steps.filter((step) => step.includes(" to ") || !plain.test(step));
  const operation = (between.length === 0 ? steps : between).join(" + ");
  const grids = new Set([...stderr.matchAll(lacked)].map((match) => match[1] ?? ""));
  // PROJ tries the newer name of a grid first, and then the older one.
  const newer = [...grids].filter((name) => name.endsWith(".tif"));
  return { operation, missing_grids: newer.slice(0, mostGrids) };
}
