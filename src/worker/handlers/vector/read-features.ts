import type { Survey } from "../../../core/vector/survey.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { convertSource } from "./convert-source.ts";
import { surveySource } from "./survey-source.ts";
import type { OpenedLayer } from "./with-sql.ts";
import { withSql } from "./with-sql.ts";

/**
 * Both runs of GDAL over all features, at the same time: each keeps one core busy, and neither needs
 * the other. Only where the layer had to be copied for the survey is the conversion made again, of
 * the copy, whose numbers of features are the survey's.
 */
export async function readFeatures(
  source: OpenedLayer & { readonly assignCrs: string | undefined },
  context: HandlerContext,
): Promise<{ survey: Survey; dump: string }> {
  // Whichever fails, the other one has ended before the task's folder goes.
  const [surveyed, converted] = await Promise.allSettled([
    withSql(source, context, (each) => surveySource(each, context)),
    convertSource(source, context),
  ]);
  if (surveyed.status === "rejected") throw surveyed.reason;
  const { answer: survey, opened } = surveyed.value;
  if (opened.file !== source.file) {
    return { survey, dump: await convertSource({ ...source, ...opened }, context) };
  }
  if (converted.status === "rejected") throw converted.reason;
  return { survey, dump: converted.value };
}
