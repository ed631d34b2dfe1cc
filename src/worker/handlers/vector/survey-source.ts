import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Survey } from "../../../core/vector/survey.ts";
import { readSurvey, surveySql } from "../../../core/vector/survey.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { runOptions } from "./gdal-environment.ts";
import type { OpenedLayer } from "./with-sql.ts";
import { sqlOf } from "./with-sql.ts";

/** Reads every feature once and keeps nothing but the counts. */
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
