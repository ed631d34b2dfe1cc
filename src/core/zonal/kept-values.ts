import type { CoveredLine } from "./cover-pixels.ts";
import { sortFloats } from "./sort-floats.ts";
import { createWeightTable } from "./weight-table.ts";

/**
 * Values with their weights, kept for a median. Whole pixels are listed, without a weight; where few
 * values repeat, as heights in metres do, they are counted by value, which needs neither memory nor sorting.
 */
export interface KeptValues {
  readonly bytes: number;
  add(line: CoveredLine): void;
  /**
   * Weighted as exactextract does: equal values count as one value with the sum of their weights.
   * For equal weights of different values it is numpy's linear interpolation.
   */
  quantile(share: number): number | null;
  /** Visits each value once, ascending, with the sum of its weights. */
  walk(visit: (value: number, weight: number) => void): void;
  clear(): void;
}

/** A shorter list is sorted faster than it is counted. */
const fewestCounted = 1 << 15;
/** More different values take more memory in the table than in the list. */
const mostCounted = 1 << 16;

/** A longer list is not kept when it is cleared. */
const longestKept = 4096;

/** `isSingle`: the values are exact in 32 bits, and take half the memory. */
export function createKeptValues(isSingle: boolean): KeptValues {
  const make = (length: number) => (isSingle ? new Float32Array(length) : new Float64Array(length));
  let whole = make(32);
  let wholes = 0;
  /** The parts of pixels, and whole ones once they are counted. */
  const table = createWeightTable(isSingle);
  let mode: "list" | "undecided" | "count" = "undecided";
  let sorted: { values: Float64Array; last: number; total: number } | undefined;

  /** Makes the list long enough for `more` values. */
  function makeRoom(more: number): void {
    if (mode !== "list" && wholes >= fewestCounted) countList();
    if (wholes + more <= whole.length) return;
    const larger = make(Math.max(2 * whole.length, wholes + more));
    larger.set(whole);
    whole = larger;
  }

  /** Empties the list into the table; the list is kept where that would take more memory. */
  function countList(): void {
    const list = whole.subarray(0, wholes);
    if (mode === "undecided" && !hasRepeats(list)) return;
    const most =
      mode === "count" ? 2 * mostCounted : table.size + Math.min(mostCounted, wholes / 4);
    const counted = table.addWhole(list, most);
    mode = counted === wholes ? "count" : "list";
    whole.copyWithin(0, counted, wholes);
    wholes -= counted;
  }

  function sort() {
    if (sorted !== undefined) return sorted;
    if (mode === "count") countList();
    const list = whole.subarray(0, wholes);
    if (list instanceof Float32Array) sortFloats(list);
    else list.sort();
    const values = table.sortedValues();
    let [total, last, before] = [wholes, -1, NaN];
    for (let index = 0; index < wholes; index++) {
      const value = list[index] ?? 0;
      if (value !== before) last += 1;
      before = value;
    }
    let at = 0;
    for (const value of values) {
      total += table.weightOf(value);
      while (at < wholes && (list[at] ?? 0) < value) at += 1;
      if (at === wholes || list[at] !== value) last += 1;
    }
    return (sorted = { values, last, total });
  }

  /** Ends where `visit` answers true. */
  function find(visit: (value: number, weight: number) => boolean): void {
    const { values } = sort();
    let [atWhole, atValue] = [0, 0];
    while (atWhole < wholes || atValue < values.length) {
      const nextWhole = atWhole < wholes ? (whole[atWhole] ?? 0) : Infinity;
      const nextValue = atValue < values.length ? (values[atValue] ?? 0) : Infinity;
      const value = Math.min(nextWhole, nextValue);
      let weight = 0;
      if (nextValue === value) {
        weight = table.weightOf(value);
        atValue += 1;
      }
      while (atWhole < wholes && whole[atWhole] === value) {
        weight += 1;
        atWhole += 1;
      }
      if (visit(value, weight)) return;
    }
  }

  return {
    get bytes() {
      return wholes * whole.BYTES_PER_ELEMENT + table.bytes;
    },

    add({ values, mask, offset, shares, count }) {
      sorted = undefined;
      if (wholes + count > whole.length) makeRoom(count);
      const list = whole;
      let at = wholes;
      for (let index = 0; index < count; index++) {
        const weight = shares[index] ?? 0;
        if (weight === 0 || mask[offset + index] === 0) continue;
        const value = values[offset + index] ?? NaN;
        if (!Number.isFinite(value)) continue;
        if (weight === 1) list[at++] = value;
        else table.add(value, weight);
      }
      wholes = at;
    },

    walk(visit) {
      find((value, weight) => {
        visit(value, weight);
        return false;
      });
    },

    clear() {
      if (whole.length > longestKept) whole = make(32);
      wholes = 0;
      table.clear();
      mode = "undecided";
      sorted = undefined;
    },

    quantile(share) {
      const { last, total } = sort();
      if (last < 0) return null;
      // The place of value k: k times its own weight, and the weights before it times the others.
      const wanted = share * total * last;
      let [index, before, leftValue, leftPlace] = [0, 0, 0, 0];
      let found: number | undefined;
      find((value, weight) => {
        const place = index * weight + last * before;
        if (index > 0 && place >= wanted) {
          const step = place - leftPlace;
          found =
            step === 0 ? value : leftValue + ((wanted - leftPlace) * (value - leftValue)) / step;
          return true;
        }
        [leftValue, leftPlace] = [value, place];
        before += weight;
        index += 1;
        return false;
      });
      return found ?? leftValue;
    },
  };
}

/** A tenth or more of a sample, from all over the list, are repeats. */
function hasRepeats(list: Float32Array | Float64Array): boolean {
  const size = Math.min(1 << 13, list.length >> 4);
  const step = Math.floor(list.length / size);
  const sample = list.slice(0, size);
  for (let index = 0; index < size; index++) sample[index] = list[index * step] ?? 0;
  sample.sort();
  let repeats = 0;
  for (let index = 1; index < size; index++) if (sample[index] === sample[index - 1]) repeats += 1;
  return repeats >= size / 10;
}
