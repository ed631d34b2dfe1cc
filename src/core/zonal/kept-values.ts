import { sortFloats } from "./sort-floats.ts";

/** Values with their weights, kept for a median. Whole pixels need no weight and less memory. */
export interface KeptValues {
  readonly size: number;
  add(value: number, weight: number): void;
  /**
   * Weighted as exactextract does: equal values count as one value with the sum of their weights.
   * For equal weights of different values it is numpy's linear interpolation.
   */
  quantile(share: number): number | null;
  /** Visits each value once, ascending, with the sum of its weights. */
  walk(visit: (value: number, weight: number) => void): void;
}

/** `isSingle`: the values are exact in 32 bits, and take half the memory. */
export function createKeptValues(isSingle: boolean): KeptValues {
  const make = (length: number) => (isSingle ? new Float32Array(length) : new Float64Array(length));
  let whole = make(32);
  let wholes = 0;
  let parts = make(32);
  let weights = new Float64Array(32);
  let partCount = 0;
  let order: Uint32Array | undefined;

  function sort(): Uint32Array {
    if (order !== undefined) return order;
    const list = whole.subarray(0, wholes);
    if (list instanceof Float32Array) sortFloats(list);
    else list.sort();
    order = Uint32Array.from({ length: partCount }, (_, index) => index).sort(
      (a, b) => (parts[a] ?? 0) - (parts[b] ?? 0) || (weights[a] ?? 0) - (weights[b] ?? 0),
    );
    return order;
  }

  function walk(visit: (value: number, weight: number) => void): void {
    const sorted = sort();
    let [atWhole, atPart] = [0, 0];
    while (atWhole < wholes || atPart < partCount) {
      const nextWhole = atWhole < wholes ? (whole[atWhole] ?? 0) : Infinity;
      const nextPart = atPart < partCount ? (parts[sorted[atPart] ?? 0] ?? 0) : Infinity;
      const value = Math.min(nextWhole, nextPart);
      let weight = 0;
      while (atPart < partCount && parts[sorted[atPart] ?? 0] === value) {
        weight += weights[sorted[atPart++] ?? 0] ?? 0;
      }
      while (atWhole < wholes && whole[atWhole] === value) {
        weight += 1;
        atWhole += 1;
      }
      visit(value, weight);
    }
  }

  return {
    get size() {
      return wholes + partCount;
    },

    add(value, weight) {
      order = undefined;
      if (weight === 1) {
        if (wholes === whole.length) whole = grow(whole, make(2 * wholes));
        whole[wholes++] = value;
        return;
      }
      if (partCount === parts.length) {
        parts = grow(parts, make(2 * partCount));
        weights = grow(weights, new Float64Array(2 * partCount));
      }
      parts[partCount] = value;
      weights[partCount++] = weight;
    },

    walk,

    quantile(share) {
      let [total, last] = [0, -1];
      walk((_value, weight) => {
        total += weight;
        last += 1;
      });
      if (last < 0) return null;
      // The place of value k: k times its own weight, and the weights before it times the others.
      const wanted = share * total * last;
      let [index, before, leftValue, leftPlace] = [0, 0, 0, 0];
      let found: number | undefined;
      walk((value, weight) => {
        if (found !== undefined) return;
        const place = index * weight + last * before;
        if (index > 0 && place >= wanted) {
          const step = place - leftPlace;
          found =
            step === 0 ? value : leftValue + ((wanted - leftPlace) * (value - leftValue)) / step;
        }
        [leftValue, leftPlace] = [value, place];
        before += weight;
        index += 1;
      });
      return found ?? leftValue;
    },
  };
}

function grow<Values extends Float32Array | Float64Array>(values: Values, larger: Values): Values {
  larger.set(values);
  return larger;
}
