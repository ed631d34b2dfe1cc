import { detectRasterType } from "./detect-type.ts";
import type { RasterType, RasterPolicy } from "./facts.ts";
import { changesFile, makeFinding, sortFindings, verdictOf } from "./finding.ts";
import type { RasterFinding, Verdict } from "./finding.ts";
import type { InspectedRaster } from "./inspected.ts";
import { judgeCompression } from "./judge-compression.ts";
import { judgePlace } from "./judge-place.ts";
import { judgeBands, judgeEmptiness } from "./judge-values.ts";

export interface Judgement {
  readonly verdict: Verdict;
  /** All findings, the worst first, so that the submitter can correct the file in one go. */
  readonly findings: readonly RasterFinding[];
  readonly rasterType: RasterType;
}

export function judgeRaster(raster: InspectedRaster, policy: RasterPolicy): Judgement {
  const { fileName, sampleType } = policy;
  const detected = detectRasterType(raster.bands, raster.hasPalette, fileName, sampleType);
  const found = [
    ...judgeReading(raster),
    ...judgePlace(raster, policy.givenCrs),
    ...judgeBands(raster, detected, policy),
    ...judgeCompression(raster, policy.compression, policy.tier),
    ...judgeUnlessBroken(raster, policy),
  ];
  const isGood = raster.isWholeCog && !found.some(changesFile);
  const cog = makeFinding("ALREADY_COG", "It is a valid Cloud-Optimized GeoTIFF.");
  const findings = sortFindings(isGood ? [...found, cog] : found);
  const rasterType = policy.rasterType ?? detected;
  return { verdict: verdictOf(findings), findings, rasterType };
}

/** A band that could not be read has no statistics, and that must not count as empty. */
function judgeUnlessBroken(raster: InspectedRaster, policy: RasterPolicy): RasterFinding[] {
  return raster.readErrors.length > 0 ? [] : judgeEmptiness(raster, policy);
}

function judgeReading({ readErrors }: InspectedRaster): RasterFinding[] {
  const [first] = readErrors;
  if (first === undefined) return [];
  // GDAL opens such a file, and fails with its first block.
  const bits = /unsupported JPEG data precision (\d+)/i.exec(readErrors.join("\n"))?.[1];
  if (bits !== undefined) {
    const text = `Its pixels are JPEG of ${bits} bits, which this worker's GDAL does not decode; a GDAL with JPEG of 12 bits does, and tifffile with imagecodecs for Python.`;
    return [makeFinding("CODEC_NOT_SUPPORTED", text)];
  }
  const where = readErrors.length === 1 ? "a block" : "some blocks";
  const text = `The pixels of ${where} cannot be read (${readErrors.slice(0, 3).join("; ")}).`;
  return [makeFinding("FILE_CORRUPTED", text)];
}
