import type { Samples } from "../serving/resample.ts";
import type { KeptValues } from "./kept-values.ts";
import { createKeptValues } from "./kept-values.ts";
import type { ZonalStatistic, ZonalValues } from "./statistics.ts";

/** A line of pixels with their shares: pixel i of the shares is at `offset + i` of the values. */
export interface CoveredLine {
  readonly values: Samples;
  /** 0: no data. */
  readonly mask: Uint8Array;
  readonly offset: number;
  readonly shares: Float64Array;
  readonly count: number;
}

/** Collects the pixels of one polygon. */
export interface Tally {
  add(line: CoveredLine): void;
  /** Pixels that are kept for a median: they take memory. */
  readonly kept: number;
  /** The number of pixels that lie in the polygon, at least in part. */
  readonly pixels: { readonly valid: number; readonly empty: number };
  readonly values: KeptValues | undefined;
  result(): ZonalValues;
}

/** `isSingle`: the values are exact in 32 bits. */
export function createTally(wanted: readonly ZonalStatistic[], isSingle = false): Tally {
  const kept = wanted.includes("median") ? createKeptValues(isSingle) : undefined;
  const counts = wanted.some((each) => each === "majority" || each === "histogram")
    ? new Map<number, number>()
    : undefined;
  let [total, sum, mean, squares, valid, empty] = [0, 0, 0, 0, 0, 0];
  let [min, max] = [Infinity, -Infinity];

  return {
    add({ values, mask, offset, shares, count }) {
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
        if (kept !== undefined) kept.add(value, weight);
        if (counts !== undefined) counts.set(value, (counts.get(value) ?? 0) + weight);
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
    get kept() {
      return kept?.size ?? 0;
    },
    get pixels() {
      return { valid, empty };
    },
    values: kept,
    result() {
      const has = total > 0;
      return {
        count: total,
        sum: has ? sum : null,
        mean: has ? sum / total : null,
        median: kept?.quantile(0.5) ?? null,
        stdev: has ? Math.sqrt(Math.max(0, squares) / total) : null,
        min: has ? min : null,
        max: has ? max : null,
        majority: majorityOf(counts),
        histogram: [...(counts ?? [])].toSorted(([a], [b]) => a - b),
      };
    },
  };
}

/** Of categories that cover the same area the greatest counts, as in exactextract. */
function majorityOf(counts: ReadonlyMap<number, number> | undefined): number | null {
  let [most, found]: [number, number | null] = [0, null];
  for (const [value, weight] of counts ?? []) {
    if (weight < most || (weight === most && found !== null && value < found)) continue;
    [most, found] = [weight, value];
  }
  return found;
}
