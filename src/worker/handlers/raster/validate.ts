import { pixelBytes } from "../../../core/raster/data-type.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { boundsOf, dataBands } from "../../../core/raster/inspected.ts";
import type { InspectedRaster } from "../../../core/raster/inspected.ts";
import { judgeRaster } from "../../../core/raster/judge.ts";
import type { Judgement } from "../../../core/raster/judge.ts";
import { defineHandler } from "../../define-handler.ts";
import { hashFile } from "./hash-file.ts";
import { inspectRaster } from "./inspect.ts";
import { policyOf, RasterRejected } from "./judge-source.ts";
import { openLocalSource } from "./open-source.ts";
import { readOptionalCrs } from "./read-crs.ts";

export const validate = defineHandler("raster.validate", async (params, context) => {
  const { file, display } = await openLocalSource(context, params);
  const givenCrs = await readOptionalCrs(context, params.source_crs);
  const [inspection, content_hash] = await Promise.all([
    inspectRaster(context, file, { display, reads: true }),
    hashFile(file, context.signal),
  ]);
  const finish = (findings: readonly RasterFinding[], judged?: Judged) => {
    const rejected = findings.some(({ severity }) => severity === "reject");
    for (const { code, message } of findings) context.logger.info(`${code}: ${message}`);
    if (rejected && params.on_reject === "fail") throw new RasterRejected(display, findings);
    return { blob_path: display, content_hash, ...toResult(findings, judged) };
  };
  if (inspection.raster === undefined) return finish(inspection.findings);
  const { raster } = inspection;
  const judgement = judgeRaster(raster, {
    ...policyOf(params, givenCrs),
    tier: params.tier,
    strict: params.strict,
    maxNodataPercent: params.max_nodata_percent,
  });
  return finish(judgement.findings, { raster, judgement });
});

interface Judged {
  readonly raster: InspectedRaster;
  readonly judgement: Judgement;
}

const megabyte = 1024 * 1024;

/** Of a file that could not even be opened there is nothing to tell but why. */
function toResult(findings: readonly RasterFinding[], judged: Judged | undefined) {
  if (judged === undefined) {
    return {
      ...{ file_size_mb: 0, raw_size_mb: 0, verdict: "rejected" as const, findings: [...findings] },
      ...{ crs: null, crs_definition: null, bounds: null, transform: null, nodata: null },
      ...{ width: 0, height: 0, band_count: 0, dtype: "unknown", is_cog: false },
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
    findings: [...judgement.findings],
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
