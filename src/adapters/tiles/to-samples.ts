/** Turns the unpacked bytes of a block into samples: undoes its predictor and its byte order. */
import type { ArrayType } from "../../core/serving/memory.ts";
import type { Samples } from "../../core/serving/resample.ts";
import type { SampleType } from "./raster-file.ts";

export interface BlockShape {
  readonly width: number;
  readonly height: number;
  /** Samples of a pixel in this block: one, if each band has blocks of its own. */
  readonly samples: number;
  readonly sampleType: SampleType;
  readonly sampleBytes: number;
  readonly isLittleEndian: boolean;
}

/**
 * The samples may share the memory of `whole`, which is changed, or of `spare`, which then has room for
 * as many bytes.
 */
export function toSamples(
  whole: Uint8Array,
  predictor: number | null,
  shape: BlockShape,
  spare = new Uint8Array(predictor === 3 ? whole.length : 0),
): Samples {
  if (predictor === 3) {
    const made = spare.subarray(0, whole.length);
    undoFloating(whole, made, shape);
    return viewAs(shape.sampleType, made);
  }
  if (!shape.isLittleEndian) swap(whole, shape.sampleBytes);
  if (predictor === 2) {
    const { width, samples, sampleBytes } = shape;
    if (sampleBytes === 8) undoLongHorizontal(whole, width, samples);
    else undoHorizontal(viewUnsigned(whole, sampleBytes), width, samples);
  }
  return viewAs(shape.sampleType, whole);
}

function swap(bytes: Uint8Array, size: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (size === 2) buffer.swap16();
  else if (size === 4) buffer.swap32();
  else if (size === 8) buffer.swap64();
}

function viewUnsigned(bytes: Uint8Array, size: number): Uint8Array | Uint16Array | Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (size === 1) return bytes;
  if (size === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

const arrays = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export function typeOf(type: SampleType): ArrayType<Samples> {
  return arrays[type];
}

function viewAs(type: SampleType, bytes: Uint8Array): Samples {
  const { buffer, byteOffset, byteLength } = bytes;
  const array = arrays[type];
  return new array(buffer as ArrayBuffer, byteOffset, byteLength / array.BYTES_PER_ELEMENT);
}

/** Predictor 2: turns differences to the pixel before into values. `stride`: samples of a pixel. */
function undoHorizontal(
  samples: Uint8Array | Uint16Array | Uint32Array,
  width: number,
  stride: number,
): void {
  const rowLength = width * stride;
  for (let start = 0; start + rowLength <= samples.length; start += rowLength) {
    const end = start + rowLength;
    // Sums wrap around in a typed array, as they did in the encoder.
    for (let index = start + stride; index < end; index++) {
      samples[index] = (samples[index] ?? 0) + (samples[index - stride] ?? 0);
    }
  }
}

/** The same for samples of 64 bits, which are seldom. */
function undoLongHorizontal(bytes: Uint8Array, width: number, stride: number): void {
  const samples = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
  const rowLength = width * stride;
  for (let index = 0; index < samples.length; index++) {
    if (index % rowLength < stride) continue;
    samples[index] = (samples[index] ?? 0n) + (samples[index - stride] ?? 0n);
  }
}

/**
 * Predictor 3: a row stores the first bytes of all floats, then the second bytes and so on, the most
 * significant first whatever the byte order of the file, and all of them as differences.
 */
function undoFloating(
  bytes: Uint8Array,
  made: Uint8Array,
  { width, samples: stride, sampleBytes }: BlockShape,
): void {
  const values = width * stride;
  const rowLength = values * sampleBytes;
  if (stride === 1 && sampleBytes === 4 && width % 4 === 0 && isLittleEndian) {
    undoFloats(bytes, new Uint32Array(made.buffer, made.byteOffset, made.length / 4), width);
    return;
  }
  for (let start = 0; start + rowLength <= bytes.length; start += rowLength) {
    undoDifferences(bytes, start, start + rowLength, stride);
    for (let part = 0; part < sampleBytes; part++) {
      const from = start + (sampleBytes - 1 - part) * values;
      for (let value = 0; value < values; value++) {
        made[start + value * sampleBytes + part] = bytes[from + value] ?? 0;
      }
    }
  }
}

/**
 * The same for floats of 32 bits, one to a pixel, in less than half of the time: the four bytes of a
 * float are summed side by side, and four floats are read at a time. Each quarter of a row begins with
 * the sum of those before it.
 */
function undoFloats(bytes: Uint8Array, words: Uint32Array, width: number): void {
  const packed = new Uint32Array(bytes.buffer, bytes.byteOffset, words.length);
  const quarter = width / 4;
  let made = 0;
  for (let start = 0; start < packed.length; start += width) {
    const [second, third, fourth] = [start + quarter, start + 2 * quarter, start + 3 * quarter];
    let a = 0;
    let b = sumOfBytes(packed, start, second);
    let c = b + sumOfBytes(packed, second, third);
    let d = c + sumOfBytes(packed, third, fourth);
    for (let index = 0; index < quarter; index++) {
      const first = packed[start + index] ?? 0;
      const next = packed[second + index] ?? 0;
      const then = packed[third + index] ?? 0;
      const last = packed[fourth + index] ?? 0;
      for (let shift = 0; shift < 32; shift += 8, made++) {
        a = (a + (first >>> shift)) | 0;
        b = (b + ((next >>> shift) & 255)) | 0;
        c = (c + ((then >>> shift) & 255)) | 0;
        d = (d + ((last >>> shift) & 255)) | 0;
        words[made] = (a << 24) | ((b & 255) << 16) | ((c & 255) << 8) | (d & 255);
      }
    }
  }
}

function sumOfBytes(words: Uint32Array, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index++) {
    const word = words[index] ?? 0;
    sum += (word & 255) + ((word >>> 8) & 255) + ((word >>> 16) & 255) + (word >>> 24);
  }
  return sum;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function undoDifferences(bytes: Uint8Array, start: number, end: number, stride: number): void {
  if (stride === 1) {
    let sum = 0;
    for (let index = start; index < end; index++) {
      sum = (sum + (bytes[index] ?? 0)) & 255;
      bytes[index] = sum;
    }
    return;
  }
  for (let index = start + stride; index < end; index++) {
    bytes[index] = (bytes[index] ?? 0) + (bytes[index - stride] ?? 0);
  }
}
