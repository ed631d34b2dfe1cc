/**
 * Statistics of a band from those of its blocks. Blocks are summarised in any order and added in the
 * order of the file, so that the same file always has the same statistics.
 */
import type { RasterBand } from "./facts.ts";

/** The numbers of a summary: count, mean, sum of squares around it, minimum, maximum. */
export const summaryLength = 5;

/** The pixels of a block that are inside of the image, and one of the samples of each. */
export interface BlockPart {
  /** Of the block, in pixels. */
  readonly width: number;
  readonly columns: number;
  readonly rows: number;
  /** Samples of a pixel. */
  readonly stride: number;
  readonly sample: number;
}

/**
 * Summarises the valid samples of a block into `made`, beginning at `at`. NaN and `hole` are not valid.
 * It reads the block twice, for the mean and for the squares around it, because a sum of squares loses
 * its digits where the values lie far from 0.
 */
export function summariseBlock(
  values: ArrayLike<number>,
  { width, columns, rows, stride, sample }: BlockPart,
  hole: number,
  made: Float64Array,
  at: number,
): void {
  let [count, sum, minimum, maximum] = [0, 0, Infinity, -Infinity];
  for (let row = 0; row < rows; row++) {
    const first = row * width * stride + sample;
    for (let index = first; index < first + columns * stride; index += stride) {
      const value = values[index] ?? 0;
      // Only NaN differs from itself.
      if (value === hole || value !== value) continue;
      count++;
      sum += value;
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
    }
  }
  const mean = count === 0 ? 0 : sum / count;
  let squares = 0;
  for (let row = 0; row < rows; row++) {
    const first = row * width * stride + sample;
    for (let index = first; index < first + columns * stride; index += stride) {
      const value = values[index] ?? 0;
      if (value === hole || value !== value) continue;
      squares += (value - mean) * (value - mean);
    }
  }
  made[at] = count;
  made[at + 1] = mean;
  made[at + 2] = squares;
  made[at + 3] = minimum;
  made[at + 4] = maximum;
}

/**
 * The statistics of one of `bands` from the summaries of all blocks; null: no pixel is valid. Undefined:
 * some values are infinite.
 */
export function addSummaries(
  summaries: Float64Array,
  bands: number,
  band: number,
  pixels: number,
): RasterBand["statistics"] | undefined {
  let [count, mean, squares, minimum, maximum] = [0, 0, 0, Infinity, -Infinity];
  for (let at = band * summaryLength; at < summaries.length; at += bands * summaryLength) {
    const added = summaries[at] ?? 0;
    if (added === 0) continue;
    const step = (summaries[at + 1] ?? 0) - mean;
    const both = count + added;
    mean += (step * added) / both;
    squares += (summaries[at + 2] ?? 0) + (step * step * count * added) / both;
    minimum = Math.min(minimum, summaries[at + 3] ?? 0);
    maximum = Math.max(maximum, summaries[at + 4] ?? 0);
    count = both;
  }
  if (count === 0) return null;
  if (![mean, squares, minimum, maximum].every(Number.isFinite)) return undefined;
  const valid_percent = percentOf(count, pixels);
  return { minimum, maximum, mean, stddev: Math.sqrt(squares / count), valid_percent };
}

/** In four digits, as GDAL gives it; below 100 where a single pixel has no value. */
function percentOf(count: number, pixels: number): number {
  if (count === pixels) return 100;
  return Math.min(99.999, Number(((100 * count) / pixels).toPrecision(4)));
}
