/**
 * Sums weights by value, in an open-addressed table. A Map of numbers takes several times as long, because
 * it makes an object of each number that is no small integer.
 */
export interface WeightTable {
  /** The number of different values. */
  readonly size: number;
  readonly bytes: number;
  /** `weight` is greater than 0. */
  add(value: number, weight: number): void;
  /** Adds values that each weigh 1, until the table has more than `most`; answers how many it added. */
  addWhole(values: Float32Array | Float64Array, most: number): number;
  weightOf(value: number): number;
  /** Each value once, ascending. */
  sortedValues(): Float64Array;
  clear(): void;
}

const fewestPlaces = 64;
/** A larger table is not kept when it is cleared. */
const mostPlacesKept = 1024;

/** `isSingle`: all values are exact in 32 bits. */
export function createWeightTable(isSingle: boolean): WeightTable {
  let values = new Float64Array(fewestPlaces);
  /** 0: the place is empty. */
  let weights = new Float64Array(fewestPlaces);
  let size = 0;
  const one = isSingle ? new Float32Array(1) : new Float64Array(1);
  const words = new Int32Array(one.buffer);

  /** The place of the value, or the empty place where it belongs. */
  function placeOf(value: number): number {
    one[0] = value;
    return probe(value, hashOf(words, 0, isSingle));
  }

  function probe(value: number, hash: number): number {
    const last = values.length - 1;
    let place = hash & last;
    while (weights[place] !== 0 && values[place] !== value) place = (place + 1) & last;
    return place;
  }

  /** At most half of the places are taken, so that a search is short. */
  function grow(): void {
    const [oldValues, oldWeights] = [values, weights];
    values = new Float64Array(2 * oldValues.length);
    weights = new Float64Array(2 * oldWeights.length);
    for (let index = 0; index < oldValues.length; index++) {
      const weight = oldWeights[index] ?? 0;
      if (weight === 0) continue;
      const place = placeOf(oldValues[index] ?? 0);
      values[place] = oldValues[index] ?? 0;
      weights[place] = weight;
    }
  }

  return {
    get size() {
      return size;
    },
    get bytes() {
      return values.byteLength + weights.byteLength;
    },
    add(value, weight) {
      const place = placeOf(value);
      const before = weights[place] ?? 0;
      weights[place] = before + weight;
      if (before !== 0) return;
      values[place] = value;
      size += 1;
      if (2 * size > values.length) grow();
    },
    addWhole(list, most) {
      const bits = new Int32Array(list.buffer, list.byteOffset, list.byteLength / 4);
      // Copies of the variables: those of a closure are read from memory for each value.
      let [known, sums] = [values, weights];
      let last = known.length - 1;
      for (let index = 0; index < list.length; index++) {
        const value = list[index] ?? 0;
        let place = hashOf(bits, isSingle ? index : 2 * index, isSingle) & last;
        while (sums[place] !== 0 && known[place] !== value) place = (place + 1) & last;
        const before = sums[place] ?? 0;
        sums[place] = before + 1;
        if (before !== 0) continue;
        known[place] = value;
        size += 1;
        if (size > most) return index + 1;
        if (2 * size <= last) continue;
        grow();
        [known, sums] = [values, weights];
        last = known.length - 1;
      }
      return list.length;
    },
    weightOf: (value) => weights[placeOf(value)] ?? 0,
    sortedValues() {
      const found = new Float64Array(size);
      let at = 0;
      for (let place = 0; at < size; place++) {
        if (weights[place] !== 0) found[at++] = values[place] ?? 0;
      }
      return found.sort();
    },
    clear() {
      if (size === 0) return;
      size = 0;
      if (values.length <= mostPlacesKept) {
        weights.fill(0);
        return;
      }
      values = new Float64Array(fewestPlaces);
      weights = new Float64Array(fewestPlaces);
    },
  };
}

/** Of the bits of a float at this index; both zeros are one value. */
function hashOf(bits: Int32Array, at: number, isSingle: boolean): number {
  const high = bits[isSingle ? at : at + 1] ?? 0;
  const sign = 1 << 31;
  let hash = isSingle ? high : high ^ (bits[at] ?? 0);
  if (hash === sign && high === sign) hash = 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 15);
}
