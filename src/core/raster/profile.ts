/**
 * How a Cloud-Optimized GeoTIFF is encoded, by what it holds and what it is for. Chosen, not left to
 * the driver: its default CUBIC invents classes in a land-cover raster, and a predictor costs 15 %
 * on a palette while it saves a third on a terrain model.
 */
import type { DataType, RasterType, Tier } from "./facts.ts";

export type Compression = "deflate" | "zstd" | "lzw" | "jpeg" | "webp" | "lerc" | "none";
export type Resampling =
  | "nearest"
  | "bilinear"
  | "cubic"
  | "cubicspline"
  | "lanczos"
  | "average"
  | "mode"
  | "max"
  | "min"
  | "med";

export interface CogProfile {
  readonly compression: Compression;
  readonly predictor: 1 | 2 | 3;
  readonly level: number | undefined;
  readonly quality: number | undefined;
  readonly warpResampling: Resampling;
  readonly overviewResampling: Resampling;
  readonly blockSize: 256 | 512 | 1024;
  /** Cut along the tiles of web maps, so that serving one is reading one block. */
  readonly isWebAligned: boolean;
  /** Imagery for looking at: red, green, blue and where there is something, 8 bits each. */
  readonly asImage: boolean;
}

export interface ProfileRequest {
  readonly tier: Tier;
  readonly rasterType: RasterType;
  readonly dataType: DataType;
  readonly hasPalette: boolean;
  /** Codecs that this GDAL can write. */
  readonly codecs: ReadonlySet<string>;
  readonly compression?: Compression | undefined;
  readonly quality?: number | undefined;
  readonly resampling?: Resampling | undefined;
  readonly overviewResampling?: Resampling | undefined;
  readonly blockSize?: 256 | 512 | 1024 | undefined;
}

export function chooseProfile(request: ProfileRequest): CogProfile {
  const { tier, rasterType, dataType, codecs } = request;
  const isClasses = rasterType === "categorical";
  const isImagery = ["rgb", "rgba", "multispectral"].includes(rasterType);
  const isVisual = tier === "visualization";
  // Classes without colours and measurements keep their values: a style is put on them later.
  const asImage = isVisual && (isImagery || request.hasPalette);
  const usual = isVisual && isImagery && codecs.has("jpeg") ? "jpeg" : "deflate";
  const compression = request.compression ?? usual;
  const isLossy = compression === "jpeg" || compression === "webp";
  return {
    compression,
    predictor: predictorFor(compression, isClasses, asImage ? "uint8" : dataType),
    level: tier === "archive" && compression === "deflate" ? 9 : undefined,
    quality: isLossy ? (request.quality ?? 85) : undefined,
    warpResampling: request.resampling ?? warpFor(isClasses, isImagery),
    overviewResampling: request.overviewResampling ?? overviewFor(isClasses, asImage),
    blockSize: isVisual ? 256 : (request.blockSize ?? 512),
    isWebAligned: isVisual,
    asImage,
  };
}

/** The most frequent class; of colours each band would find another one. */
function overviewFor(isClasses: boolean, asImage: boolean): Resampling {
  if (!isClasses) return "average";
  return asImage ? "nearest" : "mode";
}

function warpFor(isClasses: boolean, isImagery: boolean): Resampling {
  if (isClasses) return "nearest";
  return isImagery ? "cubic" : "bilinear";
}

function predictorFor(compression: Compression, isClasses: boolean, type: DataType): 1 | 2 | 3 {
  if (isClasses || !["deflate", "lzw", "zstd"].includes(compression)) return 1;
  if (type === "float32" || type === "float64") return 3;
  return 2;
}

interface CreationSize {
  readonly threads: number;
  readonly addAlpha: boolean;
  /** Of the output, in pixels. */
  readonly size: readonly [number, number];
}

/** As options of GDAL's COG driver. */
export function toCreationOptions(
  profile: CogProfile,
  { threads, addAlpha, size }: CreationSize,
): string[] {
  const options = {
    COMPRESS: profile.compression.toUpperCase(),
    PREDICTOR: predictors[profile.predictor],
    LEVEL: profile.level,
    QUALITY: profile.quality,
    OVERVIEW_RESAMPLING: profile.overviewResampling.toUpperCase(),
    WARP_RESAMPLING: profile.warpResampling.toUpperCase(),
    // Overviews of the source were made in ways that nobody knows. Where none are needed GDAL 3.6
    // takes them over all the same, in whatever order they were, unless told to have none.
    OVERVIEWS:
      profile.isWebAligned || size.some((side) => side > profile.blockSize)
        ? "IGNORE_EXISTING"
        : "NONE",
    // IF_NEEDED has no effect under compression.
    BIGTIFF: "IF_SAFER",
    NUM_THREADS: threads > 1 ? threads : undefined,
    ...(profile.isWebAligned
      ? { TILING_SCHEME: "GoogleMapsCompatible", ADD_ALPHA: addAlpha ? "YES" : "NO" }
      : { BLOCKSIZE: profile.blockSize }),
  };
  return Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : ["-co", `${name}=${value}`],
  );
}

const predictors = { 1: "NO", 2: "STANDARD", 3: "FLOATING_POINT" } as const;
