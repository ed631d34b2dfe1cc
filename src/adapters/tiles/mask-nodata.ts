import type { Samples } from "../../core/serving/resample.ts";

/** Masks pixels where all bands are nodata: one band alone may have that value in a real colour. */
export function maskNodata(
  bands: readonly Samples[],
  mask: Uint8Array,
  nodata: number | undefined,
): void {
  const [first] = bands;
  if (first === undefined) return;
  const isFloat = first instanceof Float32Array || first instanceof Float64Array;
  if (!isFloat && (nodata === undefined || Number.isNaN(nodata))) return;
  // The nodata value is stored as text; a band of 32 bits holds its rounded form.
  const hole = first instanceof Float32Array ? Math.fround(nodata ?? NaN) : (nodata ?? NaN);
  if (bands.length === 1) {
    for (let index = 0; index < mask.length; index++) {
      const value = first[index] ?? 0;
      // Only NaN differs from itself.
      if (value === hole || value !== value) mask[index] = 0;
    }
    return;
  }
  for (let index = 0; index < mask.length; index++) {
    let isNothing = true;
    for (const band of bands) {
      const value = band[index] ?? 0;
      if (value !== hole && !(isFloat && Number.isNaN(value))) isNothing = false;
    }
    if (isNothing) mask[index] = 0;
  }
}
