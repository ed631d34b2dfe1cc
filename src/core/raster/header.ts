/**
 * Checks the sizes that a TIFF's directories claim, before memory is allocated for them: 400 bytes
 * can claim four thousand million pixels.
 */
import { makeFinding } from "./finding.ts";
import type { RasterFinding } from "./finding.ts";
import type { TiffImage, TiffStructure } from "./tiff-structure.ts";
import { blocksOf } from "./tiff-structure.ts";

/**
 * The largest expansion of a byte, by TIFF's number of the compression. Other compressions have no
 * bound.
 */
const largestRatio: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [5, 4096],
  [8, 1040],
  [32_773, 128],
  [32_946, 1040],
]);
/** The largest block that GDAL is allowed to hold in memory. */
const largestBlock = 2 ** 31;

export function judgeHeader({ images, file_bytes }: TiffStructure): RasterFinding[] {
  const [main] = images;
  const { across, down } = blocksOf(main);
  const samples = main.is_planar ? 1 : main.samples_per_pixel;
  const blockBytes = (main.block_width * main.block_height * samples * main.bits_per_sample) / 8;
  if (blockBytes > largestBlock) {
    const text = `It claims blocks of ${main.block_width} × ${main.block_height} pixels.`;
    return [makeFinding("HEADER_IMPLAUSIBLE", text)];
  }
  if (main.block_offsets.length < across * down) {
    const text = `It claims ${main.width} × ${main.height} pixels in ${across * down} blocks and lists ${main.block_offsets.length}.`;
    return [makeFinding("HEADER_IMPLAUSIBLE", text)];
  }
  const { stored, present, firstBeyond } = measure(main, file_bytes);
  if (present === 0) {
    return [makeFinding("RASTER_EMPTY", "Not one of its blocks was ever written.")];
  }
  if (firstBeyond !== undefined) {
    const text = `Its data end at byte ${firstBeyond}, and the file has ${file_bytes}: it is cut off.`;
    return [makeFinding("FILE_CORRUPTED", text)];
  }
  // Fewer bytes than all blocks, because the last block may be shorter than the others.
  const claimed = Math.min(present * blockBytes, imageBytes(main, samples));
  const ratio = largestRatio.get(main.compression);
  if (ratio !== undefined && claimed > stored * ratio) {
    const text = `It claims ${main.width} × ${main.height} pixels, for which its ${stored} bytes are too few.`;
    return [makeFinding("HEADER_IMPLAUSIBLE", text)];
  }
  return [];
}

function imageBytes({ width, height, bits_per_sample }: TiffImage, samples: number): number {
  return (width * height * samples * bits_per_sample) / 8;
}

function measure(image: TiffImage, fileBytes: number) {
  let stored = 0;
  let present = 0;
  let firstBeyond: number | undefined;
  for (let index = 0; index < image.block_offsets.length; index++) {
    const bytes = image.block_bytes[index] ?? 0;
    const offset = image.block_offsets[index] ?? 0;
    if (bytes === 0) continue;
    present++;
    stored += bytes;
    if (offset + bytes > fileBytes) firstBeyond ??= offset + bytes;
  }
  return { stored, present, firstBeyond };
}
