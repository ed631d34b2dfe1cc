/** Opens a source: its layers as GDAL reads them, each with what is known of its columns. */
import path from "node:path";
import { convertParquet } from "../../../adapters/parquet/convert-parquet.ts";
import { ParquetError } from "../../../adapters/parquet/parquet-error.ts";
import { externalReference } from "../../../core/files/problem.ts";
import { Tally, misdeclaredColumnsFinding } from "../../../core/vector/findings.ts";
import type { VectorFinding } from "../../../core/vector/findings.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import type { RawKind } from "../../../core/vector/raw-values.ts";
import {
  correctGuess,
  exactQuery,
  guessLooseColumns,
  readLooseColumns,
  valuesQuery,
} from "../../../core/vector/sqlite-values.ts";
import type { LooseColumn } from "../../../core/vector/sqlite-values.ts";
import {
  csv,
  isCsv,
  isGeoPackage,
  isParquet,
  isTable,
} from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { FileRefused } from "./check-source.ts";
import type { SourceFile } from "./fetch-source.ts";
import { hasDegreeColumns, openOptions, readHeader, runOptions } from "./gdal-options.ts";
import type { CsvColumns } from "./gdal-options.ts";
import { inspectSource, layerOfLines } from "./inspect-source.ts";
import type { OpenedLayer } from "./with-sql.ts";

export interface SourceLayer extends OpenedLayer {
  readonly format: SourceFormat;
  /** Its name in the submitted file. */
  readonly title: string;
  /** The types of columns that the format knows and GDAL's copy does not. */
  readonly types: ReadonlyMap<string, GeoColumn["type"]>;
  readonly rawColumns: ReadonlyMap<string, RawKind>;
  readonly hasDegreeColumns: boolean;
  readonly findings: readonly VectorFinding[];
  /** The system that the submitted file names and GDAL's copy does not. */
  readonly ownCrs?: string | undefined;
  /**
   * Looks at all values of a layer whose columns are read by a guess. Undefined: it was right; otherwise the
   * layer as it has to be read.
   */
  readonly checkValues?: (() => Promise<SourceLayer | undefined>) | undefined;
  /** Of a layer that GDAL has not read yet: throws the reason for which it cannot be loaded. */
  readonly inspect?: (() => Promise<unknown>) | undefined;
}

export interface GivenLayer extends CsvColumns {
  readonly layer?: string | null | undefined;
  readonly encoding?: string | null | undefined;
  readonly source_crs?: string | null | undefined;
}

export async function openLayers(
  source: SourceFile,
  given: GivenLayer,
  context: HandlerContext,
): Promise<SourceLayer[]> {
  if (isParquet(source.format)) return [await openParquet(source, given, context)];
  if (isTable(source.format)) return openTables(source, given, context);
  const options = await openOptions(source, given);
  const header = isCsv(source.format) ? await readHeader(source.file) : [];
  const needsExtent = given.source_crs != null;
  const chosen = { wanted: given.layer, header, needsExtent };
  const inspect = () => inspectSource(source, options, chosen, context);
  const isUninspected = source.lines !== undefined && given.layer == null && !needsExtent;
  const layers = isUninspected ? [layerOfLines(source)] : await inspect();
  const open = (layer: LayerFacts, loose: readonly LooseColumn[]): SourceLayer => ({
    file: source.file,
    drivers: source.drivers,
    openArgs: options.args,
    layer,
    query: loose.length === 0 ? undefined : exactQuery(layer, loose),
    format: source.format,
    title: layer.name,
    types: new Map<string, GeoColumn["type"]>([
      ...[...(source.textColumns ?? [])].map((name) => [name, "text"] as const),
      ...loose.map(({ name, type }) => [name, type] as const),
    ]),
    rawColumns: source.rawColumns ?? new Map(),
    hasDegreeColumns: hasDegreeColumns(header, given),
    findings: [
      ...options.findings,
      ...misdeclaredColumnsFinding(loose.filter(({ isMisdeclared }) => isMisdeclared)),
    ],
    ...(isUninspected ? { inspect } : {}),
  });
  return layers.map((layer) => {
    const values = isGeoPackage(source.format) ? valuesQuery(layer) : undefined;
    if (values === undefined) return open(layer, []);
    const guessed = guessLooseColumns(layer);
    const checkValues = async () => {
      const found = await findLooseColumns(source, layer, values, context);
      return found.length === 0 ? undefined : open(layer, correctGuess(guessed, found));
    };
    return { ...open(layer, guessed), checkValues };
  });
}

/** The columns of a GeoPackage that GDAL would read wrongly. */
async function findLooseColumns(
  source: SourceFile,
  layer: LayerFacts,
  values: string,
  context: HandlerContext,
): Promise<LooseColumn[]> {
  const args = ["-ro", "-q", source.file, "-sql", values];
  const { stdout } = await context.gdal.run("ogrinfo", args, runOptions(context, source.drivers));
  return readLooseColumns(stdout, layer);
}

/** Opens a CSV that was made of a table; its rows are points by two of its columns. */
async function openCsv(
  file: string,
  given: GivenLayer,
  context: HandlerContext,
): Promise<SourceLayer[]> {
  const source = { file, format: csv, drivers: ["CSV"] as const };
  const options = await openOptions(source, given);
  const header = await readHeader(file);
  const needsExtent = given.source_crs != null;
  const layers = await inspectSource(
    source,
    options,
    { wanted: null, header, needsExtent },
    context,
  );
  return layers.map((layer) => ({
    ...source,
    openArgs: options.args,
    layer,
    title: layer.name,
    types: new Map(),
    rawColumns: new Map(),
    hasDegreeColumns: hasDegreeColumns(header, given),
    findings: options.findings,
  }));
}

/** Each sheet becomes a CSV; those without coordinates are left out. */
async function openTables(
  source: SourceFile,
  given: GivenLayer,
  context: HandlerContext,
): Promise<SourceLayer[]> {
  const options = await openOptions(source, given);
  const run = runOptions(context, source.drivers);
  const { stdout } = await context.gdal.run(
    "ogrinfo",
    ["-ro", "-q", ...options.args, source.file],
    run,
  );
  const sheets = [...stdout.matchAll(/^\d+: (.*?)(?: \([^()]*\))?$/gm)].map(
    (line) => line[1] ?? "",
  );
  const wanted = given.layer == null ? sheets : sheets.filter((name) => name === given.layer);
  if (wanted.length === 0) {
    throw new PermanentError(
      `The file has no sheet "${given.layer ?? ""}"; it has: ${sheets.join(", ")}.`,
      {
        code: "LAYER_NOT_FOUND",
      },
    );
  }
  const opened: SourceLayer[] = [];
  let refusal: unknown;
  for (const [index, sheet] of wanted.entries()) {
    const file = path.join(context.workDir, `sheet${index}.csv`);
    const args = ["-f", "CSV", ...options.args, file, source.file, sheet];
    await context.gdal.run("ogr2ogr", args, runOptions(context, [...source.drivers, "CSV"]));
    try {
      const layers = await openCsv(file, given, context);
      opened.push(
        ...layers.map((layer) => ({
          ...layer,
          title: sheet,
          rawColumns: source.rawColumns ?? new Map(),
          findings: [...options.findings, ...layer.findings],
        })),
      );
    } catch (error) {
      const isPlain = error instanceof PermanentError && error.code === "NO_GEOMETRY";
      if (!isPlain) throw error;
      refusal = error;
    }
  }
  if (opened.length === 0) throw refusal;
  return opened;
}

async function openParquet(
  source: SourceFile,
  given: GivenLayer,
  context: HandlerContext,
): Promise<SourceLayer> {
  const file = path.join(context.workDir, "parquet.csv");
  const converted = await convertParquet(
    { path: source.file, target: file, geometryColumn: given.geometry_column ?? undefined },
    context,
  ).catch((error: unknown) => {
    const isReference = error instanceof ParquetError && error.problem === "EXTERNAL_REFERENCE";
    throw isReference ? new FileRefused(externalReference(error.message)) : error;
  });
  const { geometryColumn, crs, types, rawColumns, featureCount, droppedDates } = converted;
  const tally = new Tally();
  if (droppedDates > 0) tally.add("DATES_DROPPED", droppedDates);
  const chosen = { ...given, geometry_column: geometryColumn };
  const [layer] = await openCsv(file, chosen, context);
  if (layer === undefined) throw new Error("a CSV has a layer");
  const facts: LayerFacts = { ...layer.layer, featureCount };
  const findings = [...layer.findings, ...tally.findings()];
  return { ...layer, layer: facts, types, rawColumns, title: "parquet", ownCrs: crs, findings };
}
