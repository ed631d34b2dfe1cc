/**
 * Handlers raster.create_cog and raster_reproject: one raster in, one checked COG in storage out.
 */
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { destinationOf, stemOf } from "./destination.ts";
import { encode, prepare, sizeOf } from "./encode.ts";
import { finishCog } from "./finish-cog.ts";
import { openSource } from "./open-source.ts";
import { planSource } from "./plan-source.ts";
import type { CogParams, PlannedSource } from "./plan-source.ts";
import { temporaryFile, threadsOf } from "./run-gdal.ts";

export const createCog = defineHandler("raster.create_cog", async (params, context) => {
  const made = await makeCog(context, params, stemOf(params.blob_path));
  const { planned, written } = made;
  return {
    ...written,
    source_path: made.display,
    action: planned.plan.isCopy ? ("copy" as const) : ("encode" as const),
    tier: params.tier,
    findings: [...planned.findings],
  };
});

interface MakeParams extends CogParams {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
  readonly output_path?: string | null | undefined;
  readonly output_container?: string | null | undefined;
}

async function makeCog(context: HandlerContext, params: MakeParams, name: string) {
  const { file, original, display, findings, sampleType } = await openSource(context, params);
  const opened = { isUnpacked: findings.length > 0, sampleType };
  const planned = await planSource(context, file, display, params, opened);
  if (planned.profile.isWebAligned && isCrossing(planned)) {
    throw new PermanentError(
      `"${display}" reaches across 180° and cannot be cut along the tiles of web maps. Use the analysis tier.`,
      { code: "NOT_ALIGNABLE" },
    );
  }
  const suffix = params.tier === "visualization" ? "_visualization" : "";
  const destination = destinationOf(context, params, `${name}${suffix}.tif`);
  const { isCopy } = planned.plan;
  const output = isCopy ? original : await convert(context, file, planned);
  context.progress(90, "checking the result");
  const inspected = isCopy ? file : output;
  const written = await finishCog(context, output, destination, planned.rasterType, inspected);
  // GDAL keeps a table of classes in a file of its own beside a TIFF, where no reader finds it.
  const { classes } = planned.raster;
  const named = classes.length === 0 ? {} : { classes: [...classes] };
  return { planned, written: { ...written, facts: { ...written.facts, ...named } }, display };
}

function isCrossing({ findings }: PlannedSource): boolean {
  return findings.some(({ code }) => code === "CROSSES_ANTIMERIDIAN");
}

async function convert(
  context: HandlerContext,
  file: string,
  planned: PlannedSource,
): Promise<string> {
  const { raster, plan, profile } = planned;
  const source = { file, driver: raster.driver };
  const prepared = await prepare(context, source, planned, { forOnePiece: true });
  const output = temporaryFile(context, "output.tif");
  await encode(context, prepared, output, {
    plan,
    profile,
    threads: threadsOf(context),
    progress: [5, 90],
    size: await sizeOf(context, prepared, raster, plan),
    bands: raster.bands,
  });
  return output;
}

export const reproject = defineHandler("raster_reproject", async (params, context) => {
  const { written } = await makeCog(context, params, `${stemOf(params.blob_path)}_reprojected`);
  return written;
});
