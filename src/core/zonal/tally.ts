import type { CoveredLine } from "./cover-pixels.ts";
import type { KeptValues } from "./kept-values.ts";
import { createKeptValues } from "./kept-values.ts";
import type { ZonalStatistic, ZonalValues } from "./statistics.ts";
import { createWeightTable } from "./weight-table.ts";

/** Collects the pixels of one polygon. */
export interface Tally {
  add(line: CoveredLine): void;
  /** Memory that values take which are kept for a median or counted for a histogram. */
  readonly keptBytes: number;
  /** The number of pixels that lie in the polygon, at least in part. */
  readonly pixels: { readonly valid: number; readonly empty: number };
  readonly values: KeptValues | undefined;
  result(): ZonalValues;
  /** Makes it ready for another polygon, with the memory that it has. */
  clear(): void;
}

/** `isSingle`: the values are exact in 32 bits. */
export function createTally(wanted: readonly ZonalStatistic[], isSingle = false): Tally {
  const kept = wanted.includes("median") ? createKeptValues(isSingle) : undefined;
  const counts = wanted.some((each) => each === "majority" || each === "histogram")
    ? createWeightTable(isSingle)
    : undefined;
  let [total, sum, mean, squares, valid, empty] = [0, 0, 0, 0, 0, 0];
  let [min, max] = [Infinity, -Infinity];

  return {
    add(line) {
      const { values, mask, offset, shares, count } = line;
      kept?.add(line);
      // Differences to the mean so far, or to the first value, are small beside large values, and a line
      // needs no division before it joins the others.
      let shift = total > 0 ? mean : NaN;
      let [weights, differences, spread] = [0, 0, 0];
      for (let index = 0; index < count; index++) {
        const weight = shares[index] ?? 0;
        if (weight === 0) continue;
        const value = values[offset + index] ?? NaN;
        if (mask[offset + index] === 0 || !Number.isFinite(value)) {
          empty += 1;
          continue;
        }
        if (Number.isNaN(shift)) shift = value;
        const difference = value - shift;
        valid += 1;
        weights += weight;
        sum += weight * value;
        differences += weight * difference;
        spread += weight * difference * difference;
        if (value < min) min = value;
        if (value > max) max = value;
        if (counts !== undefined) counts.add(value, weight);
      }
      if (weights === 0) return;
      // Chan's formula joins two groups by their means.
      const apart = shift + differences / weights - mean;
      const before = total;
      total += weights;
      mean += apart * (weights / total);
      squares +=
        spread -
        differences * (differences / weights) +
        apart * apart * ((before * weights) / total);
    },
    get keptBytes() {
      return (kept?.bytes ?? 0) + (counts?.bytes ?? 0);
    },
    get pixels() {
      return { valid, empty };
    },
    values: kept,
    clear() {
      [total, sum, mean, squares, valid, empty] = [0, 0, 0, 0, 0, 0];
      [min, max] = [Infinity, -Infinity];
      kept?.clear();
      counts?.clear();
    },
    result() {
      const has = total > 0;
      const histogram = Array.from(
        counts?.sortedValues() ?? [],
        (value) => [value, counts?.weightOf(value) ?? 0] as const,
      );
      return {
        count: total,
        sum: has ? sum : null,
        mean: has ? sum / total : null,
        median: kept?.quantile(0.5) ?? null,
        stdev: has ? Math.sqrt(Math.max(0, squares) / total) : null,
        min: has ? min : null,
        max: has ? max : null,
        majority: majorityOf(histogram),
        histogram,
      };
    },
  };
}

/** Of categories that cover the same area the greatest counts, as in exactextract. */
function majorityOf(histogram: ZonalValues["histogram"]): number | null {
  let [most, found]: [number, number | null] = [0, null];
  for (const [value, weight] of histogram) if (weight >= most) [most, found] = [weight, value];
  return found;
}
