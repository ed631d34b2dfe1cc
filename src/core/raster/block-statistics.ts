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
 * Squares are summed around a value near the mean, and moved to the mean at the end: a sum of plain
 * squares loses its digits where the values lie far from 0, and a second pass takes twice the time.
 */
export function summariseBlock(
  values: ArrayLike<number>,
  part: BlockPart,
  hole: number,
  made: Float64Array,
  at: number,
): void {
  const { width, columns, rows, stride, sample } = part;
  const near = nearMean(values, part, hole);
  let count = 0;
  let sum = 0;
  let squares = 0;
  let minimum = Infinity;
  let maximum = -Infinity;
  for (let row = 0; row < rows; row++) {
    const first = row * width * stride + sample;
    const end = first + columns * stride;
    for (let index = first; index < end; index += stride) {
      const value = values[index] ?? 0;
      // Only NaN differs from itself.
      if (value === hole || value !== value) continue;
      const step = value - near;
      count++;
      sum += step;
      squares += step * step;
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
    }
  }
  const step = count === 0 ? 0 : sum / count;
  made[at] = count;
  made[at + 1] = near + step;
  made[at + 2] = Math.max(0, squares - count * step * step);
  made[at + 3] = minimum;
  made[at + 4] = maximum;
}

/** The mean of one pixel of each row, at another column in each. */
function nearMean(
  values: ArrayLike<number>,
  { width, columns, rows, stride, sample }: BlockPart,
  hole: number,
): number {
  let count = 0;
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    const column = (row * 37) % columns;
    const value = values[(row * width + column) * stride + sample] ?? 0;
    if (value === hole || value !== value) continue;
    count++;
    sum += value;
  }
  return count === 0 ? 0 : sum / count;
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
