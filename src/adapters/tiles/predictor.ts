/** Undoes the differences that a TIFF predictor stored in place of values, on one decoded block. */

/** `stride`: samples of a pixel that lie together. */
export function undoHorizontal(
  samples: Uint8Array | Uint16Array | Uint32Array,
  width: number,
  stride: number,
): void {
  const rowLength = width * stride;
  for (let start = 0; start + rowLength <= samples.length; start += rowLength) {
    const end = start + rowLength;
    // Typed arrays wrap around as the encoder's arithmetic did.
    for (let index = start + stride; index < end; index++) {
      samples[index] = (samples[index] ?? 0) + (samples[index - stride] ?? 0);
    }
  }
}

/**
 * Floats are stored as all first bytes of a row, then all second ones, most significant first
 * whatever the order of the file, and then as differences.
 */
export function undoFloating(
  bytes: Uint8Array,
  width: number,
  stride: number,
  sampleBytes: number,
): Uint8Array {
  const values = width * stride;
  const rowLength = values * sampleBytes;
  const made = new Uint8Array(bytes.length);
  for (let start = 0; start + rowLength <= bytes.length; start += rowLength) {
    for (let index = start + stride; index < start + rowLength; index++) {
      bytes[index] = (bytes[index] ?? 0) + (bytes[index - stride] ?? 0);
    }
    for (let part = 0; part < sampleBytes; part++) {
      const from = start + (sampleBytes - 1 - part) * values;
      for (let value = 0; value < values; value++) {
        made[start + value * sampleBytes + part] = bytes[from + value] ?? 0;
      }
    }
  }
  return made;
}
