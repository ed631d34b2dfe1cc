/** What GDAL is told about the source whenever it opens it: always the same. */
import { readFile } from "node:fs/promises";
import type { VectorFinding } from "../../../core/vector/findings.ts";
import { encodingFinding } from "../../../core/vector/findings.ts";
import { guessEncoding, isCsv, isShapefile } from "../../../core/vector/source-format.ts";
import type { SourceFile } from "./fetch-source.ts";

export interface OpenOptions {
  readonly args: readonly string[];
  readonly findings: readonly VectorFinding[];
}

export interface CsvColumns {
  readonly longitude_column?: string | null | undefined;
  readonly latitude_column?: string | null | undefined;
  readonly geometry_column?: string | null | undefined;
}

/** Those that name degrees; x and y may be metres. */
const degreeNames = {
  x: ["longitude", "lon", "long", "lng"],
  y: ["latitude", "lat"],
} as const;

export async function openOptions(
  source: SourceFile,
  given: CsvColumns & { readonly encoding?: string | null | undefined },
): Promise<OpenOptions> {
  if (isCsv(source.format)) return { args: csvOptions(given), findings: [] };
  if (!isShapefile(source.format)) return { args: [], findings: [] };
  if (given.encoding != null) {
    return {
      args: ["-oo", `ENCODING=${given.encoding}`],
      findings: [encodingFinding(given.encoding, false)],
    };
  }
  return guessFromTable(source.file);
}

function csvOptions({ longitude_column, latitude_column, geometry_column }: CsvColumns): string[] {
  const x = longitude_column ?? [...degreeNames.x, "x", "easting"].join(",");
  const y = latitude_column ?? [...degreeNames.y, "y", "northing"].join(",");
  const options = [
    `X_POSSIBLE_NAMES=${x}`,
    `Y_POSSIBLE_NAMES=${y}`,
    `GEOM_POSSIBLE_NAMES=${geometry_column ?? "wkt,geom,geometry,the_geom"}`,
    "KEEP_GEOM_COLUMNS=NO",
    "AUTODETECT_TYPE=YES",
    "EMPTY_STRING_AS_NULL=YES",
  ];
  return options.flatMap((option) => ["-oo", option]);
}

/** A shapefile without .cpg leaves its reader to guess, and GDAL guesses Latin. */
async function guessFromTable(file: string): Promise<OpenOptions> {
  const base = file.slice(0, -".shp".length);
  const none = { args: [], findings: [] };
  const said = await readFile(`${base}.cpg`, "latin1").catch(() => "");
  if (said.trim() !== "") return none;
  const table = await readFile(`${base}.dbf`).catch(() => undefined);
  const guess = table === undefined ? undefined : guessEncoding(table);
  if (guess === undefined) return none;
  return { args: ["-oo", `ENCODING=${guess}`], findings: [encodingFinding(guess, true)] };
}

/** Whether the coordinates of a CSV are called degrees. */
export function hasDegreeColumns(header: readonly string[], given: CsvColumns): boolean {
  const names = new Set(header.map((name) => name.trim().toLowerCase()));
  const isDegrees = (chosen: string | null | undefined, usual: readonly string[]) =>
    chosen == null ? usual.some((name) => names.has(name)) : usual.includes(chosen.toLowerCase());
  return (
    isDegrees(given.longitude_column, degreeNames.x) &&
    isDegrees(given.latitude_column, degreeNames.y)
  );
}
