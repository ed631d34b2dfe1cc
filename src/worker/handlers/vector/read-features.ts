import { readFile } from "node:fs/promises";
import path from "node:path";
import { GdalError } from "../../../adapters/gdal/gdal-error.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import { readSurvey, surveySql } from "../../../core/vector/survey.ts";
import type { Survey } from "../../../core/vector/survey.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { runOptions } from "./gdal-options.ts";
import { dumpOptions } from "./open-dump.ts";
import { sqlOf, withSql } from "./with-sql.ts";
import type { OpenedLayer } from "./with-sql.ts";

/**
 * Surveys and converts all features, in two runs of GDAL. They run one after the other: in
 * parallel, one of them sometimes failed to open the source. If the survey needed a copy of the
 * layer, the conversion reads that copy, so that the feature numbers of both agree.
 */
export async function readFeatures(
  source: OpenedLayer & { readonly assignCrs: string | undefined },
  context: HandlerContext,
): Promise<{ survey: Survey; dump: string }> {
  const { answer: survey, opened } = await withSql(source, context, (each) =>
    surveySource(each, context),
  );
  return { survey, dump: await convertSource({ ...source, ...opened }, context) };
}

/**
 * Counts features and columns, and finds the invalid geometries, with one SQL query over the layer.
 */
export async function surveySource(
  { file, openArgs, layer }: OpenedLayer,
  context: HandlerContext,
): Promise<Survey> {
  const answer = path.join(context.workDir, `survey-${path.basename(file)}.geojsonl`);
  const { geometry, dialect } = sqlOf({ file, layer });
  const sql = surveySql(layer.name, geometry, layer.fields);
  const args = ["-f", "GeoJSONSeq", answer, file, ...openArgs, "-dialect", dialect, "-sql", sql];
  await context.gdal.run("ogr2ogr", args, runOptions(context));
  return readSurvey(await readFile(answer, "utf8"), layer.fields);
}

/**
 * Converts the features to UTF-8, straight lines, and longitude and latitude on WGS 84, in one run
 * of GDAL. A feature that cannot be projected is skipped; the caller sees it in the counts.
 */
async function convertSource(
  source: {
    readonly file: string;
    readonly openArgs: readonly string[];
    readonly layer: LayerFacts;
    readonly assignCrs: string | undefined;
  },
  context: HandlerContext,
): Promise<string> {
  const file = path.join(context.workDir, `rows-${path.basename(source.file)}.sql`);
  const { assignCrs, layer } = source;
  const crs = assignCrs === undefined ? [] : ["-s_srs", assignCrs];
  const args = [
    ...dumpOptions,
    "-nlt",
    "GEOMETRY",
    "-nlt",
    "CONVERT_TO_LINEAR",
    "-skipfailures",
    ...crs,
    "-t_srs",
    "EPSG:4326",
    ...source.openArgs,
    file,
    source.file,
    layer.name,
  ];
  const { stderr } = await context.gdal
    .run("ogr2ogr", args, runOptions(context))
    .catch((error: unknown) => {
      if (
        error instanceof GdalError &&
        /proj|transform|srs|ellipsoid/i.test(error.lines.join("\n"))
      ) {
        throw new PermanentError(
          `GDAL cannot transform these coordinates to longitude and latitude: ${error.lines.at(-1) ?? ""}. Check source_crs and the file's own coordinate reference system.`,
          { code: "CRS_UNUSABLE", details: { lines: [...error.lines] } },
        );
      }
      throw error;
    });
  const errors = stderr.split("\n").filter((line) => line.startsWith("ERROR"));
  if (errors.length > 0) {
    context.logger.warn("GDAL skipped features", { lines: errors.slice(0, 20) });
  }
  return file;
}
