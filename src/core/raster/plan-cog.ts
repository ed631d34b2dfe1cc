/** Plans the GDAL steps that turn a raster into the requested COG. */
import { findColours } from "./band-names.ts";
import { isSameCrs, meaningOf } from "./crs.ts";
import { toGdalType } from "./data-type.ts";
import type { NodataValue, RasterCrs, Tier } from "./facts.ts";
import { changesFile } from "./finding.ts";
import type { RasterFinding, RasterFindingCode } from "./finding.ts";
import { dataBands } from "./inspected.ts";
import type { InspectedRaster } from "./inspected.ts";
import { downcastOf } from "./judge-values.ts";
import type { CogProfile } from "./profile.ts";
import type { ImageAlpha, ImageBand } from "./vrt.ts";

export interface CogRequest {
  readonly raster: InspectedRaster;
  readonly findings: readonly RasterFinding[];
  readonly tier: Tier;
  readonly profile: CogProfile;
  /** The requested CRS as GDAL reads it; null keeps the CRS of the source. */
  readonly targetCrs: RasterCrs | null;
  readonly givenCrs: RasterCrs | null;
  readonly nodata: number | undefined;
  /** True if the request names an encoding: then the source cannot simply be copied. */
  readonly isEncodingGiven: boolean;
}

export interface CogPlan {
  /** The source already is the requested file, byte for byte. */
  readonly isCopy: boolean;
  /** Arguments of a warp to a virtual raster; undefined if the pixels keep their places. */
  readonly warp: readonly string[] | undefined;
  /** Colours for display, computed from the source or from the warp. */
  readonly image: readonly ImageBand[] | undefined;
  readonly imageAlpha: ImageAlpha | undefined;
  /** Arguments of the translation, without format, creation options and files. */
  readonly translate: readonly string[];
  /** The nodata value that the output declares. */
  readonly nodata: NodataValue | null;
  /** The CRS of the source's coordinates: its own, or the one that the submission states. */
  readonly sourceWkt2: string | undefined;
  /** Whether the driver must add alpha for masked pixels and for parts that its warp leaves empty. */
  readonly addAlpha: boolean;
}

export function planCog(request: CogRequest): CogPlan {
  const { raster, findings, tier, profile, targetCrs, givenCrs } = request;
  const has = (code: RasterFindingCode) => findings.some((finding) => finding.code === code);
  const isMoved = has("GCPS_ONLY") || has("NOT_NORTH_UP");
  const source = raster.crs ?? givenCrs;
  const isReprojected =
    !profile.isWebAligned &&
    targetCrs !== null &&
    (source === null || !isSameCrs(source, targetCrs));
  const isCopy =
    raster.isWholeCog &&
    tier !== "visualization" &&
    !isReprojected &&
    !request.isEncodingGiven &&
    request.nodata === undefined &&
    !findings.some(changesFile);
  const nodata = nodataOf(request);
  const warps = isMoved || isReprojected;
  const isWrapped =
    isReprojected && has("CROSSES_ANTIMERIDIAN") && meaningOf(targetCrs)?.kind === "geographic";
  const needsMask = warps && nodata === null && losesEmptiness(raster) && !profile.asImage;
  return {
    isCopy,
    warp: warps
      ? [...warpArguments(request, nodata, isReprojected, needsMask), ...(isWrapped ? wrapped : [])]
      : undefined,
    image: profile.asImage ? imageBands(raster) : undefined,
    imageAlpha: profile.asImage && nodata === null ? imageAlpha(raster) : undefined,
    nodata,
    sourceWkt2: source?.wkt2,
    translate: profile.asImage
      ? []
      : [
          ...translateArguments(request, nodata, needsMask, warps),
          ...(isWrapped ? ["-a_srs", targetCrs.wkt2] : []),
        ],
    addAlpha: nodata === null && raster.transparency !== "alpha" && !profile.asImage,
  };
}

/**
 * True: a warp would not show which of its pixels are empty, unless it adds an alpha band. GDAL carries nodata
 * values and alpha over, and drops a mask.
 */
export function losesEmptiness({ transparency }: Pick<InspectedRaster, "transparency">): boolean {
  return transparency === "none" || transparency === "mask";
}

/** Longitudes continue beyond 180, or the output would span the world and be almost empty. */
const wrapped = ["--config", "CENTER_LONG", "180"];

/**
 * Null: no nodata value. A value that the type cannot hold is dropped; floating point without a
 * value gets NaN.
 */
function nodataOf({ raster, findings, nodata }: CogRequest): NodataValue | null {
  if (findings.some(({ code }) => code === "NODATA_NOT_REPRESENTABLE")) return null;
  if (nodata !== undefined) return nodata;
  const [first] = dataBands(raster.bands);
  if (first === undefined) return null;
  if (first.nodata !== null) return first.nodata;
  const isFloat = first.data_type.startsWith("float");
  return isFloat && raster.transparency === "none" ? "nan" : null;
}

function warpArguments(
  { raster, givenCrs, targetCrs, profile, nodata }: CogRequest,
  used: NodataValue | null,
  isReprojected: boolean,
  needsMask: boolean,
): string[] {
  const args = ["-of", "VRT", "-overwrite", "-r", toWarpName(profile.warpResampling)];
  const source = raster.crs ?? givenCrs;
  if (raster.crs === null && givenCrs !== null) args.push("-s_srs", givenCrs.wkt2);
  const target = isReprojected ? targetCrs : source;
  if (target !== null) args.push("-t_srs", target.wkt2);
  const declared = dataBands(raster.bands)[0]?.nodata ?? null;
  if (declared !== null && used === null) args.push("-srcnodata", "None");
  else if (nodata !== undefined) args.push("-srcnodata", String(nodata));
  if (used !== null) args.push("-dstnodata", String(used));
  if (needsMask || (profile.asImage && used === null && losesEmptiness(raster))) {
    args.push("-dstalpha");
  }
  return args;
}

function toWarpName(name: string): string {
  return name === "nearest" ? "near" : name;
}

function translateArguments(
  { raster, givenCrs, findings }: CogRequest,
  nodata: NodataValue | null,
  needsMask: boolean,
  warps: boolean,
): string[] {
  const args: string[] = [];
  if (needsMask) {
    // The warp has appended alpha after the bands; used as a mask it does not count as data.
    for (const index of raster.bands.keys()) args.push("-b", String(index + 1));
    args.push("-mask", String(raster.bands.length + 1));
  }
  if (!warps && raster.crs === null && givenCrs !== null) args.push("-a_srs", givenCrs.wkt2);
  const declared = dataBands(raster.bands)[0]?.nodata ?? null;
  if (declared !== nodata) args.push("-a_nodata", nodata === null ? "none" : String(nodata));
  const [first] = dataBands(raster.bands);
  if (raster.sampleBits !== null && first !== undefined) {
    // GDAL keeps the bits of a sample unless the output's type is named.
    args.push("-ot", toGdalType(first.data_type));
  } else if (findings.some(({ code }) => code === "BIT_DEPTH_DOWNCAST")) {
    const smaller = downcastOf(dataBands(raster.bands));
    if (smaller !== undefined) args.push("-ot", toGdalType(smaller));
  }
  return args;
}

/** Red, green and blue by name, otherwise the first three bands; a single band stays gray. */
function imageBands({ bands, hasPalette }: InspectedRaster): ImageBand[] {
  if (hasPalette) {
    return ([1, 2, 3] as const).map((paletteComponent) => ({ sourceBand: 1, paletteComponent }));
  }
  const numbered = bands.map((band, index) => ({ band, sourceBand: index + 1 }));
  const data = numbered.filter(({ band }) => band.color !== "alpha");
  const named = findColours(data.map(({ band, sourceBand }) => ({ ...band, band, sourceBand })));
  const chosen = named ?? data.slice(0, data.length >= 3 ? 3 : 1);
  return chosen.map(({ band, sourceBand }) => ({ sourceBand, scale: scaleOf(band) }));
}

/** GDAL takes the type's largest number as opaque; some programs write 255 into 16 bits. */
function imageAlpha({ bands }: InspectedRaster): ImageAlpha | undefined {
  const index = bands.findIndex(({ color }) => color === "alpha");
  const alpha = bands[index];
  if (alpha === undefined) return undefined;
  const most = alpha.sample?.percentile_98 ?? alpha.statistics?.maximum ?? 255;
  return { sourceBand: index + 1, full: most <= 255 ? 255 : 65_535 };
}

/** Bytes are kept; wider types are stretched between their percentiles. */
function scaleOf({ data_type, sample, statistics }: InspectedRaster["bands"][number]) {
  if (data_type === "uint8") return undefined;
  const low = sample?.percentile_2 ?? statistics?.minimum ?? 0;
  const high = sample?.percentile_98 ?? statistics?.maximum ?? 65_535;
  return [low, high > low ? high : low + 1] as const;
}
