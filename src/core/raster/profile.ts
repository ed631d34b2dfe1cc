/**
 * Chooses the encoding of a Cloud-Optimized GeoTIFF by its content and its purpose. It is not left
 * to the driver, whose default CUBIC invents classes in a land-cover raster; and a predictor costs
 * 15 % on a palette while it saves a third on a terrain model.
 */
import type { Compression, DataType, RasterType, Tier } from "./facts.ts";

export type { Compression };
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
  /** Cut along the tiles of web maps, so that serving a tile reads one block. */
  readonly isWebAligned: boolean;
  /** Imagery for display: red, green, blue and alpha, 8 bits each. */
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
  // Classes without colours and measurements keep their values: a style is applied when they are
  // shown.
  const asImage = isVisual && (isImagery || request.hasPalette);
  const usual = isVisual && isImagery && codecs.has("jpeg") ? "jpeg" : "deflate";
  const compression = request.compression ?? usual;
  const isLossy = compression === "jpeg" || compression === "webp";
  const predictor = predictorFor(compression, isClasses, asImage ? "uint8" : dataType);
  return {
    compression,
    predictor,
    level: compression === "deflate" ? levelFor(tier === "archive", predictor) : undefined,
    quality: isLossy ? (request.quality ?? 85) : undefined,
    warpResampling: request.resampling ?? warpFor(isClasses, isImagery),
    overviewResampling: request.overviewResampling ?? overviewFor(isClasses, asImage),
    blockSize: isVisual ? 256 : (request.blockSize ?? 512),
    isWebAligned: isVisual,
    asImage,
  };
}

/**
 * The most frequent class. For colours each band would choose another class, so the nearest is
 * taken.
 */
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

/**
 * After the predictor for floats, half of the bytes are noise that no level compresses: level 3 takes two
 * thirds of the time of GDAL's 6, and its files are 1.5 % larger (a terrain with noise).
 */
function levelFor(isArchive: boolean, predictor: 1 | 2 | 3): number | undefined {
  if (isArchive) return 9;
  return predictor === 3 ? 3 : undefined;
}

interface CreationSize {
  readonly threads: number;
  readonly addAlpha: boolean;
  /** The size of the output, in pixels. */
  readonly size: readonly [number, number];
}

/** The profile as options of GDAL's COG driver. */
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
    // The source's overviews were made with unknown methods, so they are not reused. GDAL 3.6
    // copies them, in any order, even if none are needed, unless the option is NONE.
    OVERVIEWS:
      profile.isWebAligned || size.some((side) => side > profile.blockSize)
        ? "IGNORE_EXISTING"
        : "NONE",
    // IF_NEEDED has no effect under compression.
    BIGTIFF: "IF_SAFER",
    NUM_THREADS: threads > 1 ? threads : undefined,
    ...(profile.isWebAligned
      ? {
          TILING_SCHEME: "GoogleMapsCompatible",
          ALIGNED_LEVELS: alignedLevels(size),
          ADD_ALPHA: addAlpha ? "YES" : "NO",
        }
      : { BLOCKSIZE: profile.blockSize }),
  };
  return Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : ["-co", `${name}=${value}`],
  );
}

/** A web tile's side in pixels. */
const tileSide = 256;

/**
 * The resolutions whose blocks are tiles of web maps, which are served without decoding them. GDAL pads
 * each side by up to 2^(levels - 1) - 1 tiles for it; this keeps the padding below an eighth of a side.
 * Undefined: the full resolution alone, which is always aligned.
 */
function alignedLevels([width, height]: CreationSize["size"]): number | undefined {
  const tiles = Math.min(width, height) / tileSide;
  const levels = 1 + Math.min(mostAlignedOverviews, Math.floor(Math.log2(tiles / 16)));
  return levels > 1 ? levels : undefined;
}

const mostAlignedOverviews = 4;

const predictors = { 1: "NO", 2: "STANDARD", 3: "FLOATING_POINT" } as const;
