import { detectRasterType } from "../../../core/raster/detect-type.ts";
import { sortFindings } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
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
import { policyOf, RasterRejected } from "./judge-source.ts";
import type { Described } from "./judge-source.ts";
import { readOptionalCrs } from "./read-crs.ts";

export interface CogWish extends Described {
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
 * What has to be done to a source. Its pixels are judged by `raster.validate`; here only what the
 * conversion itself depends on, and a damaged block fails the conversion.
 */
export async function planSource(
  context: HandlerContext,
  file: string,
  display: string,
  wish: CogWish,
): Promise<PlannedSource> {
  // Which smaller type holds 64-bit values is known only when all of them were read.
  const reads = wish.allow_downcast === true;
  const inspection = await inspectRaster(context, file, { display, reads });
  if (inspection.raster === undefined) throw new RasterRejected(display, inspection.findings);
  const { raster } = inspection;
  const givenCrs = await readOptionalCrs(context, wish.source_crs);
  const targetCrs = await readOptionalCrs(context, wish.target_crs);
  const policy = { ...policyOf(wish, givenCrs), tier: wish.tier ?? "analysis" };
  const rasterType = policy.rasterType ?? detectRasterType(raster.bands, raster.hasPalette);
  const findings = sortFindings([
    ...judgePlace(raster, givenCrs),
    ...judgeBands(raster, rasterType, { ...policy, strict: false }),
  ]);
  if (findings.some(({ severity }) => severity === "reject")) {
    throw new RasterRejected(display, findings);
  }
  const profile = profileFor(context, raster, rasterType, policy.tier, wish);
  const plan = planCog({
    ...{ raster, findings, profile, targetCrs, givenCrs, tier: policy.tier },
    nodata: policy.nodata,
    isEncodingGiven: [wish.compression, wish.block_size, wish.overview_resampling].some(
      (given) => given != null,
    ),
  });
  return { raster, findings, profile, plan, rasterType };
}

function profileFor(
  context: HandlerContext,
  raster: InspectedRaster,
  rasterType: PlannedSource["rasterType"],
  tier: Tier,
  wish: CogWish,
): CogProfile {
  const codecs = new Set(context.gdal.capabilities.codecs.map((codec) => codec.toLowerCase()));
  const [first] = dataBands(raster.bands);
  const profile = chooseProfile({
    ...{ tier, rasterType, codecs, hasPalette: raster.hasPalette },
    dataType: first?.data_type ?? "uint8",
    compression: wish.compression ?? undefined,
    quality: wish.quality ?? undefined,
    resampling: wish.resampling ?? undefined,
    overviewResampling: wish.overview_resampling ?? undefined,
    blockSize: wish.block_size ?? undefined,
  });
  if (profile.compression === "none" || codecs.has(profile.compression)) return profile;
  throw new PermanentError(
    `This worker's GDAL (${context.gdal.engine} ${context.gdal.version}) cannot write ${profile.compression}.`,
    { code: "CODEC_NOT_SUPPORTED" },
  );
}
