/** Options of GDAL for vector sources: the environment of every run, and how a source is opened. */
import { open, readFile } from "node:fs/promises";
import type { GdalRunOptions } from "../../../adapters/gdal/gdal.ts";
import { encodingFinding } from "../../../core/vector/findings.ts";
import type { VectorFinding } from "../../../core/vector/findings.ts";
import { guessEncoding } from "../../../core/vector/source-format.ts";
import { endingOf, isCsv, isShapefile } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import type { SourceFile } from "./fetch-source.ts";

/**
 * The options of every run: it ends with the task, and has the drivers of its source and of its
 * output only.
 */
export function runOptions(context: HandlerContext, drivers: readonly string[]): GdalRunOptions {
  return {
    workDir: context.workDir,
    signal: context.signal,
    drivers,
    env: {
      OGR_GEOJSON_MAX_OBJ_SIZE: "0",
      // GML: no schema is fetched and no link is followed; values stay text, in which a code keeps its
      // zeros.
      GML_DOWNLOAD_SCHEMA: "NO",
      GML_SKIP_RESOLVE_ELEMS: "ALL",
      GML_FIELDTYPES: "ALWAYS_STRING",
      OGR_CSV_MAX_LINE_SIZE: "-1",
      // A sheet of texts only would have no header otherwise.
      OGR_XLSX_HEADERS: "FORCE",
      // GDAL makes a missing .shx index from the .shp, in the task's own copy.
      SHAPE_RESTORE_SHX: "YES",
    },
  };
}

export interface OpenOptions {
  readonly args: readonly string[];
  readonly findings: readonly VectorFinding[];
}

export interface CsvColumns {
  readonly longitude_column?: string | null | undefined;
  readonly latitude_column?: string | null | undefined;
  readonly geometry_column?: string | null | undefined;
}

/** Column names that mean degrees; `x` and `y` may be metres. */
const degreeNames = {
  x: ["longitude", "lon", "long", "lng"],
  y: ["latitude", "lat"],
} as const;

/** The arguments with which every run of GDAL on this source opens it. */
export async function openOptions(
  source: Pick<SourceFile, "format" | "file">,
  given: CsvColumns & { readonly encoding?: string | null | undefined },
): Promise<OpenOptions> {
  if (isCsv(source.format)) return { args: csvOptions(given), findings: [] };
  if (!isShapefile(source.format) && endingOf(source.file) !== ".dbf") {
    return { args: [], findings: [] };
  }
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
    // GDAL would make 7 of 007; the types are found from all values later.
    "AUTODETECT_TYPE=NO",
    "EMPTY_STRING_AS_NULL=YES",
  ];
  return options.flatMap((option) => ["-oo", option]);
}

/** Guesses the encoding of a shapefile without a .cpg file; GDAL would assume Latin-1. */
async function guessFromTable(file: string): Promise<OpenOptions> {
  const base = file.slice(0, -endingOf(file).length);
  const none = { args: [], findings: [] };
  const named = await readFile(`${base}.cpg`, "latin1").catch(() => "");
  if (named.trim() !== "") return none;
  const table = await readFile(`${base}.dbf`).catch(() => undefined);
  const guess = table === undefined ? undefined : guessEncoding(table);
  if (guess === undefined) return none;
  return { args: ["-oo", `ENCODING=${guess}`], findings: [encodingFinding(guess, true)] };
}

/** True if the coordinate columns of a CSV have names that mean degrees. */
export function hasDegreeColumns(header: readonly string[], given: CsvColumns): boolean {
  const names = new Set(header.map((name) => name.trim().toLowerCase()));
  const isDegrees = (chosen: string | null | undefined, usual: readonly string[]) =>
    chosen == null ? usual.some((name) => names.has(name)) : usual.includes(chosen.toLowerCase());
  return (
    isDegrees(given.longitude_column, degreeNames.x) &&
    isDegrees(given.latitude_column, degreeNames.y)
  );
}

const longestHeader = 4 * 1024 * 1024;

/** The column names of a CSV. Read without GDAL, which would create any number of columns first. */
export async function readHeader(file: string): Promise<string[]> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(longestHeader),
      0,
      longestHeader,
      0,
    );
    // The mark of UTF-8, with which Excel begins a CSV, is no part of the first name.
    const text = buffer.toString("latin1", 0, bytesRead).replace(/^\u00ef\u00bb\u00bf/, "");
    const line = text.slice(0, text.search(/[\r\n]|$/));
    const separator = [",", ";", "\t", "|"].reduce((best, each) =>
      line.split(each).length > line.split(best).length ? each : best,
    );
    return line.split(separator).map((name) => name.replaceAll('"', "").trim());
  } finally {
    await handle.close();
  }
}
