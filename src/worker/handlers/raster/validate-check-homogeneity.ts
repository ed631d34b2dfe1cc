/**
 * Handlers raster.validate (judges one raster) and raster.check_homogeneity (compares the judged
 * ones).
 */
import path from "node:path";
import { pixelBytes } from "../../../core/raster/data-type.ts";
import { arrayRemedy, sortFindings, verdictOf } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { checkHomogeneity as compare } from "../../../core/raster/homogeneity.ts";
import { boundsOf, dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { judgeRaster } from "../../../core/raster/judge.ts";
import type { Judgement } from "../../../core/raster/judge.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashFile, hashTogether } from "../hash-content.ts";
import { inspectRaster } from "./inspect.ts";
import { openSource } from "./open-source.ts";
import { RasterRejected, policyOf } from "./plan-source.ts";
import { judgeTransformation } from "./judge-transformation.ts";
import { readOptionalCrs } from "./run-gdal.ts";

export const validate = defineHandler("raster.validate", async (params, context) => {
  const source = await openSource(context, params);
  const { file, original, display, findings: opening, sampleType } = source;
  const givenCrs = await readOptionalCrs(context, params.source_crs);
  const [inspection, content_hash] = await Promise.all([
    inspectRaster(context, file, { display, reads: true }),
    hashFile(original, context.signal),
  ]);
  const finish = (findings: readonly RasterFinding[], judged?: Judged) => {
    const rejected = findings.some(({ severity }) => severity === "reject");
    for (const { code, message } of findings) context.logger.info(`${code}: ${message}`);
    if (rejected && params.on_reject === "fail") throw new RasterRejected(display, findings);
    const result = toResult(findings, judged);
    const names = { blob_path: display, blob_url: display, size_mb: result.file_size_mb };
    return { ...names, content_hash, ...result };
  };
  if (inspection.raster === undefined) return finish(inspection.findings);
  const { raster } = inspection;
  const judgement = judgeRaster(raster, {
    ...policyOf(params, givenCrs),
    tier: params.tier,
    strict: params.strict,
    maxNodataPercent: params.max_nodata_percent,
    compression: params.compression ?? undefined,
    fileName: path.posix.basename(display),
    sampleType,
  });
  // What was unpacked is no COG of the submitter, even if it has its form.
  const isStack = opening.some(({ code }) => code === "VARIABLES_AS_BANDS");
  const own = judgement.findings
    .filter(({ code }) => opening.length === 0 || code !== "ALREADY_COG")
    .map((finding) =>
      isStack && finding.code === "GEOTRANSFORM_MISSING"
        ? { ...finding, remedy: arrayRemedy }
        : finding,
    );
  const moving = await judgeTransformation(context, raster, givenCrs);
  const findings = sortFindings([...own, ...opening, ...moving]);
  return finish(findings, { raster, judgement: { ...judgement, verdict: verdictOf(findings) } });
});

interface Judged {
  readonly raster: InspectedRaster;
  readonly judgement: Judgement;
}

const megabyte = 1024 * 1024;

/** A file that GDAL could not open has findings and no other facts. */
function toResult(findings: readonly RasterFinding[], judged: Judged | undefined) {
  if (judged === undefined) {
    return {
      file_size_mb: 0,
      raw_size_mb: 0,
      verdict: "rejected" as const,
      findings: [...findings],
      crs: null,
      crs_definition: null,
      bounds: null,
      transform: null,
      width: 0,
      height: 0,
      band_count: 0,
      dtype: "unknown",
      nodata: null,
      is_cog: false,
      raster_type: "unknown" as const,
      can_visualize: false,
    };
  }
  const { raster, judgement } = judged;
  const { width, height, crs, transform, bands } = raster;
  const [first] = dataBands(bands);
  return {
    file_size_mb: raster.bytes / megabyte,
    raw_size_mb: (width * height * pixelBytes(bands)) / megabyte,
    verdict: judgement.verdict,
    findings: [...findings],
    crs: crs?.code ?? crs?.wkt2 ?? null,
    crs_definition: crs,
    bounds: transform === null ? null : boundsOf({ width, height, transform }),
    transform,
    width,
    height,
    band_count: bands.length,
    dtype: first?.data_type ?? "unknown",
    nodata: first?.nodata ?? null,
    is_cog: raster.isCog,
    raster_type: judgement.rasterType,
    can_visualize: !findings.some(({ code }) => code === "CROSSES_ANTIMERIDIAN"),
  };
}

export const checkHomogeneity = defineHandler("raster.check_homogeneity", async ({ members }) => {
  const findings = compare(
    members.map((member) => ({
      ...member,
      data_type: member.dtype,
      crs: member.crs_definition,
    })),
  );
  if (findings.length > 0) {
    const words = findings.map(
      ({ code, blob_path, message }) => `${code} "${blob_path}": ${message}`,
    );
    throw new PermanentError(
      `These rasters cannot be one collection. ${words.slice(0, 20).join(" ")} Submit what is alike together.`,
      {
        code: "COLLECTION_NOT_HOMOGENEOUS",
        details: { findings: findings.slice(0, 200).map((finding) => ({ ...finding })) },
      },
    );
  }
  const [first] = members;
  return {
    count: members.length,
    crs: first?.crs_definition?.code ?? first?.crs_definition?.wkt2 ?? null,
    dtype: first?.dtype ?? "unknown",
    band_count: first?.band_count ?? 0,
    raster_type: first?.raster_type ?? "unknown",
    content_hash: hashTogether(members.map(({ content_hash }) => content_hash)),
  };
});
