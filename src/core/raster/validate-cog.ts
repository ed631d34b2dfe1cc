/**
 * Checks whether a file is a cloud-optimised GeoTIFF. The rules, and so the verdicts, are those of
 * GDAL's own `validate_cloud_optimized_geotiff`; this check needs no GDAL and names a remedy.
 */
import { checkBlocks, readPromises } from "./check-cog-blocks.ts";
import type { CogFinding } from "./check-cog-blocks.ts";
import type { TiffImage, TiffStructure } from "./tiff-structure.ts";
import { blocksOf, isOverview } from "./tiff-structure.ts";

export type { CogFinding } from "./check-cog-blocks.ts";

export interface CogVerdict {
  readonly valid: boolean;
  readonly errors: readonly CogFinding[];
  readonly warnings: readonly CogFinding[];
}

/** Files beside the raster that change its content for a reader. */
export interface Sidecars {
  /** `name.tif.ovr` */
  readonly overviews: boolean;
  /** `name.tif.msk` */
  readonly mask: boolean;
}

/** A single request fetches a smaller file as a whole. */
const smallEnough = 512;
const widestStrip = 1024;
const ghostHeadBytes = 43;

export function validateCog(
  structure: TiffStructure,
  sidecars: Sidecars = { overviews: false, mask: false },
): CogVerdict {
  const [main] = structure.images;
  const overviews = structure.images.slice(1).filter(isOverview);
  const errors: CogFinding[] = [];
  const warnings: CogFinding[] = [];

  if (sidecars.overviews) {
    errors.push({
      code: "EXTERNAL_OVERVIEWS",
      message: "The overviews are in a file of their own (.ovr); they must be inside of the file.",
    });
  }
  if (main.width > smallEnough || main.height > smallEnough) {
    if (isUntiled(main)) {
      errors.push({
        code: "NOT_TILED",
        message: "The image is larger than 512 pixels and is stored in strips, not in tiles.",
      });
    }
    if (overviews.length === 0 && !sidecars.overviews) {
      warnings.push({
        code: "NO_OVERVIEWS",
        message: "The image is larger than 512 pixels and has no overviews.",
      });
    }
  }
  errors.push(
    ...checkStart(structure),
    ...checkOverviews(main, overviews),
    ...checkDataOrder(main, overviews),
    ...checkBlocks(structure, sidecars),
  );
  return { valid: errors.length === 0, errors, warnings };
}

function isUntiled({ width, block_width }: TiffImage): boolean {
  return block_width === width && block_width > widestStrip;
}

/**
 * The directories must be at the start of the file, so that one request of a reader fetches them
 * all.
 */
function checkStart(structure: TiffStructure): CogFinding[] {
  const { ifd_offset: at } = structure.images[0];
  if (at === 8 || at === 16) return [];
  const found: CogFinding[] = [];
  let expected = structure.is_big ? 16 : 8;
  if (structure.ghost !== null) {
    if (readPromises(structure).isBroken) {
      found.push({
        code: "KNOWN_INCOMPATIBLE_EDITION",
        message: "The file was changed after it had been made as a COG, and says so itself.",
      });
    }
    expected += ghostHeadBytes + structure.ghost.length;
    expected += expected % 2;
  }
  if (at !== expected) {
    found.push({
      code: "MAIN_IFD_OFFSET",
      message: `The first directory should be at byte ${expected}; it is at byte ${at}.`,
    });
  }
  return found;
}

/** Overviews must be tiled and ordered from large to small, and so must their directories. */
function checkOverviews(main: TiffImage, overviews: readonly TiffImage[]): CogFinding[] {
  const found: CogFinding[] = [];
  overviews.forEach((overview, index) => {
    const before = overviews[index - 1] ?? main;
    const beforeName = index === 0 ? "the image" : `overview ${index - 1}`;
    if (overview.width > before.width || overview.height > before.height) {
      found.push({
        code: "OVERVIEW_LARGER",
        message: `Overview ${index} is larger than ${beforeName}.`,
      });
    }
    if (isUntiled(overview)) {
      found.push({ code: "OVERVIEW_NOT_TILED", message: `Overview ${index} is not tiled.` });
    }
    if (overview.ifd_offset < before.ifd_offset) {
      found.push({
        code: "OVERVIEW_IFD_ORDER",
        message:
          `The directory of overview ${index} is at byte ${overview.ifd_offset}, ` +
          `before that of ${beforeName} at byte ${before.ifd_offset}.`,
      });
    }
  });
  return found;
}

/**
 * The smallest overview must come first and the full resolution last, in the order in which a
 * reader needs them.
 */
function checkDataOrder(main: TiffImage, overviews: readonly TiffImage[]): CogFinding[] {
  const images = [main, ...overviews];
  const starts = images.map(firstBlock);
  const found: CogFinding[] = [];
  const smallest = starts.at(-1) ?? 0;
  if (smallest !== 0 && smallest < (images.at(-1)?.ifd_offset ?? 0)) {
    found.push({
      code: "DATA_BEFORE_IFD",
      message: `The data of the ${overviews.length > 0 ? "smallest overview" : "image"} come before its directory.`,
    });
  }
  starts.forEach((start, index) => {
    const next = starts[index + 1];
    if (next === undefined || start === 0 || start >= next) return;
    const name = index === 0 ? "the image" : `overview ${index - 1}`;
    found.push({
      code: "DATA_ORDER",
      message: `The data of ${name} should come after those of overview ${index}.`,
    });
  });
  return found;
}

function firstBlock(image: TiffImage): number {
  const { across, down } = blocksOf(image);
  const count = Math.min(across * down, image.block_offsets.length);
  for (let index = 0; index < count; index++) {
    if ((image.block_bytes[index] ?? 0) > 0) return image.block_offsets[index] ?? 0;
  }
  return 0;
}
