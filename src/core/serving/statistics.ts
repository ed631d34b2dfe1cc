import { z } from "zod";
import type { Pixels, Samples } from "./resample.ts";

/** The fields have TiTiler's names. Null: no pixel is valid. */
export const bandStatistics = z
  .object({
    min: z.number().nullable(),
    max: z.number().nullable(),
    mean: z.number().nullable(),
    count: z.number(),
    sum: z.number(),
    std: z.number().nullable(),
    median: z.number().nullable(),
    percentile_2: z.number().nullable(),
    percentile_98: z.number().nullable(),
    histogram: z.tuple([z.array(z.number()), z.array(z.number())]),
    valid_percent: z.number(),
    masked_pixels: z.number().int(),
    valid_pixels: z.number().int(),
  })
  .meta({ id: "BandStatistics" });
export type BandStatistics = z.infer<typeof bandStatistics>;

const bins = 10;

export function computeStatistics(band: Samples, mask: Uint8Array): BandStatistics {
  const values = validValues(band, mask);
  const count = values.length;
  const masked = band.length - count;
  const pixels = {
    count,
    valid_percent: band.length === 0 ? 0 : (100 * count) / band.length,
    masked_pixels: masked,
    valid_pixels: count,
  };
  const [min, max] = [values[0], values.at(-1)];
  if (min === undefined || max === undefined) {
    const none = { min: null, max: null, mean: null, std: null, median: null };
    return {
      ...none,
      sum: 0,
      percentile_2: null,
      percentile_98: null,
      histogram: [[], []],
      ...pixels,
    };
  }
  const sum = values.reduce((total, value) => total + value, 0);
  const mean = sum / count;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return {
    min,
    max,
    mean,
    sum,
    std: Math.sqrt(squares / count),
    median: percentile(values, 50),
    percentile_2: percentile(values, 2),
    percentile_98: percentile(values, 98),
    histogram: histogram(values, min, max),
    ...pixels,
  };
}

/** The range of most values of each band; undefined: the band has no range. */
export function spread(pixels: Pixels): readonly ([number, number] | undefined)[] {
  return pixels.bands.map((band) => {
    const values = validValues(band, pixels.mask);
    const low = percentile(values, 2);
    const high = percentile(values, 98);
    if (low === null || high === null) return undefined;
    if (low < high) return [low, high];
    // If nearly all pixels have one value, the range of the others is shown.
    const [least = low, most = high] = [values[0], values.at(-1)];
    return least < most ? [least, most] : [low - 1, high + 1];
  });
}

function validValues(band: Samples, mask: Uint8Array): Float64Array {
  const values = new Float64Array(band.length);
  let count = 0;
  for (let index = 0; index < band.length; index++) {
    const value = band[index] ?? Number.NaN;
    if (mask[index] !== 0 && Number.isFinite(value)) values[count++] = value;
  }
  return values.subarray(0, count).sort();
}

function percentile(sorted: Float64Array, percent: number): number | null {
  if (sorted.length === 0) return null;
  const place = (percent / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? 0;
  return below + (place - Math.floor(place)) * (above - below);
}

function histogram(sorted: Float64Array, min: number, max: number): [number[], number[]] {
  // As numpy does: a single value gets an interval of width one around it.
  const [low, high] = min === max ? [min - 0.5, max + 0.5] : [min, max];
  const counts = new Array<number>(bins).fill(0);
  for (const value of sorted) {
    const bin = Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const edges = Array.from({ length: bins + 1 }, (_, index) => low + (index * (high - low)) / bins);
  return [counts, edges];
}
