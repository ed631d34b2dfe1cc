import type { BandStatistics } from "../serving/statistics.ts";
import type { Tally } from "./tally.ts";

const bins = 10;

/** Statistics of an area in TiTiler's words. The tally must keep its values, for the percentiles. */
export function describeTally(tally: Tally): BandStatistics {
  const { count, sum, mean, median, stdev, min, max } = tally.result();
  const { valid, empty } = tally.pixels;
  const all = valid + empty;
  return {
    min,
    max,
    mean,
    count,
    sum: sum ?? 0,
    std: stdev,
    median,
    percentile_2: tally.values?.quantile(0.02) ?? null,
    percentile_98: tally.values?.quantile(0.98) ?? null,
    histogram: histogramOf(tally, min, max),
    valid_percent: all === 0 ? 0 : (100 * valid) / all,
    masked_pixels: empty,
    valid_pixels: valid,
  };
}

/** Ten intervals between the least and the greatest value, with the sums of the shares. */
function histogramOf(
  { values }: Tally,
  min: number | null,
  max: number | null,
): [number[], number[]] {
  if (values === undefined || min === null || max === null) return [[], []];
  // As numpy does: a single value gets an interval of width one around it.
  const [low, high] = min === max ? [min - 0.5, max + 0.5] : [min, max];
  const counts = new Array<number>(bins).fill(0);
  values.walk((value, weight) => {
    const bin = Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins));
    counts[bin] = (counts[bin] ?? 0) + weight;
  });
  const edges = Array.from({ length: bins + 1 }, (_, index) => low + (index * (high - low)) / bins);
  return [counts, edges];
}
