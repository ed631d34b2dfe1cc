/** Judges the pixels: their type, their emptiness, and values that cannot be measurements. */
import { isCompatible } from "./detect-type.ts";
import { holdsNumber, integerRange } from "./data-type.ts";
import type { RasterBand, RasterType, RasterPolicy } from "./facts.ts";
import { bitDepthRemedies, makeFinding } from "./finding.ts";
import type { RasterFinding } from "./finding.ts";
import { dataBands } from "./inspected.ts";
import type { InspectedRaster } from "./inspected.ts";

/** Judges the bands without reading every pixel, and in more detail if there are statistics. */
export function judgeBands(
  raster: InspectedRaster,
  detected: RasterType,
  policy: Omit<RasterPolicy, "maxNodataPercent">,
): RasterFinding[] {
  const bands = dataBands(raster.bands);
  return [
    ...judgeType(bands, detected, policy),
    ...bands.flatMap((band) => judgeNodata(band, raster, policy)),
    ...(bands.length < raster.bands.length && bands.some(({ nodata }) => nodata !== null)
      ? [makeFinding("NODATA_AND_ALPHA", "It has both a nodata value and an alpha band.")]
      : []),
    ...(raster.bands.slice(0, -1).some(({ color }) => color === "alpha")
      ? [
          makeFinding(
            "ALPHA_NOT_LAST",
            "Its alpha band is not the last one, where readers expect it.",
          ),
        ]
      : []),
    ...(raster.hasPalette ? [makeFinding("PALETTE", "Its values are classes of a palette.")] : []),
    ...judgeContent(raster),
  ].filter(isFirstOfKind);
}

/** Parts of a file that a COG does not have, or not in this form. */
function judgeContent(raster: InspectedRaster) {
  const { sampleBits, bands, furtherImages, classes, lacksPalette } = raster;
  const findings: RasterFinding[] = [];
  if (lacksPalette) {
    const text = "Its values are numbers of colours, and it has no table of colours.";
    findings.push(makeFinding("PALETTE_MISSING", text));
  }
  if (sampleBits !== null) {
    const text = `Its samples have ${sampleBits} bits, and are stored as ${bands[0]?.data_type ?? ""}.`;
    findings.push(makeFinding("SAMPLE_SIZE", text));
  }
  if (furtherImages.length > 0) {
    const names = furtherImages.slice(0, 5).join("; ");
    const text = `It holds ${furtherImages.length} further images, which are left out: ${names}.`;
    findings.push(makeFinding("FURTHER_IMAGES", text));
  }
  if (classes.length > 0) {
    findings.push(makeFinding("CLASS_TABLE", `It names ${classes.length} classes.`));
  }
  return findings;
}

/** A defect that several bands share is reported for the first of them. */
function isFirstOfKind(
  finding: RasterFinding,
  index: number,
  all: readonly RasterFinding[],
): boolean {
  return all.findIndex(({ code }) => code === finding.code) === index;
}

const wideTypes = new Set(["float64", "int64", "uint64"]);

function judgeType(
  bands: readonly RasterBand[],
  detected: RasterType,
  policy: Omit<RasterPolicy, "maxNodataPercent">,
): RasterFinding[] {
  const findings: RasterFinding[] = [];
  const complex = bands.find(({ data_type }) => data_type.startsWith("c"));
  const wide = bands.find(({ data_type }) => wideTypes.has(data_type));
  if (complex !== undefined) {
    const text = `${complex.name} holds complex numbers, which no map can show.`;
    const remedy = bitDepthRemedies.complex;
    findings.push(makeFinding("BIT_DEPTH_POLICY_VIOLATION", text, { remedy }));
  } else if (wide !== undefined) {
    const smaller = policy.allowDowncast ? downcastOf(bands) : undefined;
    findings.push(
      smaller === undefined
        ? makeFinding(
            "BIT_DEPTH_POLICY_VIOLATION",
            `${wide.name} is ${wide.data_type}; 64-bit types are not served.`,
            policy.allowDowncast ? { remedy: bitDepthRemedies.tooLarge } : {},
          )
        : makeFinding("BIT_DEPTH_DOWNCAST", `${wide.data_type} is stored as ${smaller}.`),
    );
  }
  if (bands.some(isInefficient)) {
    const text = "It stores fewer than 256 different whole numbers as floating point.";
    findings.push(makeFinding("INEFFICIENT_BIT_DEPTH", text));
  }
  const isImage = detected === "rgb" || detected === "rgba";
  if (isImage && bands.some(({ data_type }) => data_type === "uint16")) {
    const severity = policy.tier === "visualization" ? "fix" : "info";
    findings.push(makeFinding("SIXTEEN_BIT_IMAGERY", "It is imagery of 16 bits.", { severity }));
  }
  if (policy.rasterType !== undefined && !isCompatible(policy.rasterType, detected)) {
    const text = `It was described as ${policy.rasterType} and looks like ${detected}.`;
    findings.push(makeFinding("RASTER_TYPE_MISMATCH", text));
  }
  return findings;
}

/** The type of at most 32 bits that holds all of these values; floats lose digits, not range. */
export function downcastOf(
  bands: readonly RasterBand[],
): "float32" | "int32" | "uint32" | undefined {
  // Without statistics the largest whole number is unknown.
  if (bands.some((band) => band.statistics === null && band.data_type !== "float64")) {
    return undefined;
  }
  const all = bands.map(({ statistics, nodata }) => [
    statistics?.minimum ?? 0,
    statistics?.maximum ?? 0,
    ...(typeof nodata === "number" ? [nodata] : []),
  ]);
  const least = Math.min(...all.flat());
  const most = Math.max(...all.flat());
  if (bands.some(({ data_type }) => data_type === "float64")) {
    return Math.max(-least, most) <= 3.4028234663852886e38 ? "float32" : undefined;
  }
  for (const type of ["uint32", "int32"] as const) {
    const range = integerRange(type);
    if (range !== undefined && least >= range.least && most <= range.most) return type;
  }
  return undefined;
}

function isInefficient({ data_type, statistics, sample }: RasterBand): boolean {
  if (!data_type.startsWith("float") || statistics === null || sample === null) return false;
  return sample.whole && sample.distinct < 256 && statistics.maximum - statistics.minimum < 256;
}

export function judgeEmptiness(
  raster: InspectedRaster,
  { maxNodataPercent }: Pick<RasterPolicy, "maxNodataPercent">,
): RasterFinding[] {
  const empty = emptyPercent(raster);
  if (empty === undefined) return [];
  const text = `${empty >= 100 ? "All" : `${Number(empty.toFixed(2))} %`} of its pixels are empty.`;
  const isRefused = maxNodataPercent < 100 && empty >= maxNodataPercent;
  if (isRefused) return [makeFinding("RASTER_EMPTY", text)];
  return empty >= 90 ? [makeFinding("RASTER_SPARSE", text)] : [];
}

function emptyPercent({ bands }: InspectedRaster): number | undefined {
  const data = dataBands(bands);
  if (data.every(({ statistics }) => statistics === null)) return 100;
  const alpha = bands.find(({ color }) => color === "alpha");
  if (alpha?.statistics?.maximum === 0) return 100;
  const valid = data.map(({ statistics }) => statistics?.valid_percent ?? (statistics ? 100 : 0));
  return 100 - Math.max(...valid);
}

/** Values that other programs write into empty pixels. */
const sentinels = new Set([-9999, -99999, -999, -32768, -32767, -1e10]);
const extreme = 1e30;

function judgeNodata(
  band: RasterBand,
  { transparency, hasPalette }: InspectedRaster,
  policy: Omit<RasterPolicy, "maxNodataPercent">,
): RasterFinding[] {
  const { name, nodata, data_type, statistics, sample } = band;
  const findings: RasterFinding[] = [];
  const declared = policy.nodata ?? nodata;
  if (declared !== null && !holdsNumber(data_type, declared)) {
    const text = `The nodata value ${declared} does not fit into ${data_type} of ${name}.`;
    findings.push(makeFinding("NODATA_NOT_REPRESENTABLE", text));
  }
  if (statistics !== null) {
    const { minimum, maximum } = statistics;
    const isInside = typeof nodata === "number" && nodata > minimum && nodata < maximum;
    if (isInside && !hasPalette) {
      const text = `The nodata value ${nodata} lies between ${minimum} and ${maximum}, the values of ${name}.`;
      const code = policy.strict ? "RASTER_NODATA_CONFLICT" : "NODATA_IN_DATA_RANGE";
      findings.push(makeFinding(code, text));
    }
    if (maximum >= extreme && policy.nodata === undefined) {
      findings.push(makeFinding("RASTER_EXTREME_VALUES", `${name} reaches up to ${maximum}.`));
    }
    if (minimum <= -extreme && policy.nodata === undefined) {
      findings.push(makeFinding("VERY_NEGATIVE_VALUES", `${name} reaches down to ${minimum}.`));
    }
  }
  if (declared === null && sample !== null) {
    if (sample.nan_share > 0) {
      const text = `${name} has pixels that are not numbers, and no nodata value.`;
      findings.push(makeFinding("NAN_WITHOUT_NODATA", text));
    }
    if (transparency === "none" && sentinels.has(sample.lowest) && sample.lowest_share > 0.001) {
      const text = `${name} holds ${sample.lowest} in ${(100 * sample.lowest_share).toFixed(1)} % of its pixels, and no nodata value is declared.`;
      findings.push(makeFinding("NODATA_NOT_DECLARED", text));
    }
  }
  return findings;
}
