/** Summarises a reduced copy of a band: the range of its values, and whether they are classes. */
import type { BandSample, DataType, NodataValue } from "./facts.ts";

/** Values are counted up to this number; a larger count would not change any decision. */
const mostDistinct = 1024;

/** Takes the values of one band, row by row. Undefined: none of them is valid. */
export function summariseSample(
  values: ArrayLike<number>,
  nodata: NodataValue | null,
  isValid: (index: number) => boolean = () => true,
  columns?: number,
): BandSample | undefined {
  const isData = (index: number) => {
    const value = values[index] ?? Number.NaN;
    return value !== nodata && Number.isFinite(value) && isValid(index);
  };
  const valid: number[] = [];
  let nan = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? Number.NaN;
    if (Number.isNaN(value)) nan++;
    else if (isData(index)) valid.push(value);
  }
  if (valid.length === 0) return undefined;
  const sorted = Float64Array.from(valid).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  const lowest = at(0);
  const distinct = new Set<number>();
  for (const value of sorted) {
    distinct.add(value);
    if (distinct.size >= mostDistinct) break;
  }
  return {
    percentile_2: at(0.02),
    percentile_98: at(0.98),
    distinct: distinct.size,
    whole: sorted.every(Number.isInteger),
    nan_share: nan / values.length,
    lowest,
    lowest_share: sorted.filter((value) => value === lowest).length / sorted.length,
    ...(columns === undefined
      ? {}
      : { roughness: measureRoughness(values, columns, at(0.98) - at(0.02), isData) }),
  };
}

function measureRoughness(
  values: ArrayLike<number>,
  columns: number,
  range: number,
  isData: (index: number) => boolean,
): number {
  let [sum, count] = [0, 0];
  for (let index = 1; index < values.length; index++) {
    if (index % columns === 0 || !isData(index) || !isData(index - 1)) continue;
    sum += Math.abs((values[index] ?? 0) - (values[index - 1] ?? 0));
    count++;
  }
  return count === 0 || range <= 0 ? 0 : sum / count / range;
}

/**
 * Reads raw pixels, band after band, in the machine's byte order. Complex types cannot be sorted.
 */
export function readSamples(
  bytes: Uint8Array,
  type: DataType,
  pixels: number,
  bands: number,
): ArrayLike<number>[] {
  const buffer = bytes.slice().buffer;
  return Array.from({ length: bands }, (_, band) => {
    const view = viewOf(buffer, type, band * pixels, pixels);
    return view ?? [];
  });
}

function viewOf(
  buffer: ArrayBuffer,
  type: DataType,
  start: number,
  length: number,
): ArrayLike<number> | undefined {
  switch (type) {
    case "uint8":
      return new Uint8Array(buffer, start, length);
    case "int8":
      return new Int8Array(buffer, start, length);
    case "uint16":
      return new Uint16Array(buffer, start * 2, length);
    case "int16":
      return new Int16Array(buffer, start * 2, length);
    case "uint32":
      return new Uint32Array(buffer, start * 4, length);
    case "int32":
      return new Int32Array(buffer, start * 4, length);
    case "float32":
      return new Float32Array(buffer, start * 4, length);
    case "float64":
      return new Float64Array(buffer, start * 8, length);
    default:
      return undefined;
  }
}
