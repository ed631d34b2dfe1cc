import type { Survey } from "../../../core/vector/survey.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { convertSource } from "./convert-source.ts";
import { surveySource } from "./survey-source.ts";
import type { OpenedLayer } from "./with-sql.ts";
import { withSql } from "./with-sql.ts";

/**
 * Both runs of GDAL over all features, one after the other: beside each other, one of them now and
 * then could not open the source. Where the layer had to be copied for the survey, the conversion is
 * made of the copy, whose numbers of features are the survey's.
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
