import { readFile } from "node:fs/promises";
import path from "node:path";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import type { Survey } from "../../../core/vector/survey.ts";
import { readSurvey, surveySql } from "../../../core/vector/survey.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runOptions } from "./gdal-environment.ts";

export interface ToSurvey {
  readonly file: string;
  readonly openArgs: readonly string[];
  readonly layer: Pick<LayerFacts, "name" | "geometryColumn" | "fields">;
}

/** Reads every feature once and keeps nothing but the counts. */
export async function surveySource(
  { file, openArgs, layer }: ToSurvey,
  context: HandlerContext,
): Promise<Survey> {
  const answer = path.join(context.workDir, `survey-${path.basename(file)}.geojsonl`);
  const sql = surveySql(layer.name, layer.geometryColumn, layer.fields);
  // A GeoPackage would run SQLite's dialect by itself, without GDAL's geometry functions.
  const dialect = file.endsWith(".gpkg") ? "INDIRECT_SQLITE" : "SQLITE";
  const args = ["-f", "GeoJSONSeq", answer, file, ...openArgs, "-dialect", dialect, "-sql", sql];
  await context.gdal.run("ogr2ogr", args, runOptions(context));
  return readSurvey(await readFile(answer, "utf8"), layer.fields);
}
