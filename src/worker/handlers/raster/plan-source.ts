/**
 * Plans the conversion of a source: inspects it, refuses what cannot be converted, chooses the
 * encoding.
 */
import path from "node:path";
import { detectRasterType } from "../../../core/raster/detect-type.ts";
import type { DataType, RasterBand, RasterCrs, RasterType } from "../../../core/raster/facts.ts";
import { describeFindings, sortFindings } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { judgeCompression } from "../../../core/raster/judge-compression.ts";
import { judgePlace } from "../../../core/raster/judge-place.ts";
import { judgeBands } from "../../../core/raster/judge-values.ts";
import { planCog } from "../../../core/raster/plan-cog.ts";
import type { CogPlan } from "../../../core/raster/plan-cog.ts";
import type { Tier } from "../../../core/raster/facts.ts";
import { chooseProfile } from "../../../core/raster/profile.ts";
import type { CogProfile, Compression, Resampling } from "../../../core/raster/profile.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { inspectRaster } from "./inspect.ts";
import { readOptionalCrs } from "./run-gdal.ts";

/** Parameters that describe the source; null or undefined where the submission says nothing. */
export interface SourceDescription {
  readonly source_crs?: string | null | undefined;
  readonly raster_type?: RasterType | null | undefined;
  readonly nodata?: number | null | undefined;
  readonly allow_downcast?: boolean | undefined;
}

/**
 * Fails a task because of its source: the code of the worst finding, and all findings as text and
 * data.
 */
export class RasterRejected extends PermanentError {
  constructor(display: string, findings: readonly RasterFinding[]) {
    const worst = findings.find(({ severity }) => severity === "reject");
    super(`"${display}" was rejected. ${describeFindings(findings)}`, {
      code: worst?.code ?? "RASTER_REJECTED",
      details: { verdict: "rejected", findings: findings.map((finding) => ({ ...finding })) },
    });
  }
}

export function policyOf(described: SourceDescription, givenCrs: RasterCrs | null) {
  return {
    givenCrs,
    rasterType: described.raster_type ?? undefined,
    nodata: described.nodata ?? undefined,
    allowDowncast: described.allow_downcast ?? false,
  };
}

export interface CogParams extends SourceDescription {
  readonly tier?: Tier | undefined;
  readonly target_crs?: string | null | undefined;
  readonly compression?: Compression | null | undefined;
  readonly quality?: number | null | undefined;
  readonly block_size?: 256 | 512 | 1024 | null | undefined;
  readonly resampling?: Resampling | null | undefined;
  readonly overview_resampling?: Resampling | null | undefined;
}

export interface PlannedSource {
  readonly raster: InspectedRaster;
  readonly findings: readonly RasterFinding[];
  readonly profile: CogProfile;
  readonly plan: CogPlan;
  readonly rasterType: ReturnType<typeof detectRasterType>;
}

/**
 * Judges only what the conversion depends on: `raster.validate` judges the pixels, and a damaged
 * block fails the conversion by itself.
 */
export async function planSource(
  context: HandlerContext,
  file: string,
  display: string,
  params: CogParams,
  {
    isOurs = false,
    isUnpacked = false,
    sampleType,
  }: {
    readonly isOurs?: boolean;
    readonly isUnpacked?: boolean;
    readonly sampleType?: DataType | undefined;
  } = {},
): Promise<PlannedSource> {
  // All values must be read to know which smaller type holds them.
  const reads = params.allow_downcast === true;
  const samples = reads || ((bands: readonly RasterBand[]) => needsSample(bands, params));
  const inspection = await inspectRaster(context, file, { display, reads, samples, isOurs });
  if (inspection.raster === undefined) throw new RasterRejected(display, inspection.findings);
  const { raster } = inspection;
  const givenCrs = await readOptionalCrs(context, params.source_crs);
  const targetCrs = await readOptionalCrs(context, params.target_crs);
  const policy = { ...policyOf(params, givenCrs), tier: params.tier ?? "analysis" };
  const rasterType =
    policy.rasterType ??
    detectRasterType(raster.bands, raster.hasPalette, path.posix.basename(display), sampleType);
  const findings = sortFindings([
    ...judgePlace(raster, givenCrs),
    ...judgeBands(raster, rasterType, { ...policy, strict: false }),
    ...judgeCompression(raster, params.compression ?? undefined, policy.tier),
  ]);
  if (findings.some(({ severity }) => severity === "reject")) {
    throw new RasterRejected(display, findings);
  }
  const profile = profileFor(context, raster, rasterType, policy.tier, params);
  const plan = planCog({
    raster,
    findings,
    profile,
    targetCrs,
    givenCrs,
    tier: policy.tier,
    nodata: policy.nodata,
    // A file that the task has unpacked is no COG of the submitter, even if it has its form.
    isEncodingGiven:
      isUnpacked ||
      [params.compression, params.block_size, params.overview_resampling].some(
        (given) => given != null,
      ),
  });
  return { raster, findings, profile, plan, rasterType };
}

/**
 * A sample decides the type that is not given, finds values that stand for nodata where none is declared,
 * and gives the range of a picture.
 */
function needsSample(
  bands: readonly RasterBand[],
  { raster_type, nodata, tier }: CogParams,
): boolean {
  if (raster_type == null || tier === "visualization") return true;
  return nodata == null && dataBands(bands).some((band) => band.nodata === null);
}

function profileFor(
  context: HandlerContext,
  raster: InspectedRaster,
  rasterType: PlannedSource["rasterType"],
  tier: Tier,
  params: CogParams,
): CogProfile {
  const codecs = new Set(context.gdal.capabilities.codecs.map((codec) => codec.toLowerCase()));
  const [first] = dataBands(raster.bands);
  const profile = chooseProfile({
    tier,
    rasterType,
    codecs,
    hasPalette: raster.hasPalette,
    dataType: first?.data_type ?? "uint8",
    compression: params.compression ?? undefined,
    quality: params.quality ?? undefined,
    resampling: params.resampling ?? undefined,
    overviewResampling: params.overview_resampling ?? undefined,
    blockSize: params.block_size ?? undefined,
  });
  if (profile.compression === "none" || codecs.has(profile.compression)) return profile;
  throw new PermanentError(
    `This worker's GDAL (${context.gdal.engine} ${context.gdal.version}) cannot write ${profile.compression}.`,
    { code: "CODEC_NOT_SUPPORTED" },
  );
}
