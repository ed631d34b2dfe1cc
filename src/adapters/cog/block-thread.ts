/**
 * A thread that decodes blocks of a TIFF for `read-all-blocks.ts`, summarises them and picks pixels of a
 * reduced copy. It takes the next block that no other thread has taken. A block that cannot be decoded
 * ends it with an error.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { inflateSync } from "node:zlib";
import { summariseBlock, summaryLength } from "../../core/raster/block-statistics.ts";
import type { Samples } from "../../core/serving/resample.ts";
import { toSamples } from "../tiles/to-samples.ts";
import type { BlockTask } from "./block-task.ts";
import { viewPixels } from "./block-task.ts";

const { blocks, shared } = workerData as BlockTask;
const { width, height, blockWidth, blockHeight, samples, sampleType, sampleBytes } = blocks;
const across = Math.ceil(width / blockWidth);
const count = blocks.offsets.length;
const next = new Int32Array(shared.next);
const summaries = new Float64Array(shared.summaries);
const reduced = shared.reduced && {
  ...shared.reduced,
  pixels: viewPixels(shared.reduced, sampleType),
};
const hole = sampleType === "float32" ? Math.fround(blocks.nodata) : blocks.nodata;

/** The same memory serves one block after the other. */
const packed = new Uint8Array(Array.from(blocks.bytes).reduce((a, b) => Math.max(a, b), 0));
const spare = new Uint8Array(
  blocks.predictor === 3 ? blockWidth * blockHeight * samples * sampleBytes : 0,
);
const descriptor = openSync(blocks.file, "r");
for (let index = take(); index < count; index = take()) {
  const [column, row] = [index % across, Math.floor(index / across)];
  const rows = Math.min(blockHeight, height - row * blockHeight);
  const columns = Math.min(blockWidth, width - column * blockWidth);
  const values = decode(index, blocks.isTiled ? blockHeight : rows);
  for (let sample = 0; sample < samples; sample++) {
    const part = { width: blockWidth, columns, rows, stride: samples, sample };
    summariseBlock(values, part, hole, summaries, (index * samples + sample) * summaryLength);
  }
  pick(values, { left: column * blockWidth, top: row * blockHeight, columns, rows });
}
closeSync(descriptor);

function take(): number {
  return Atomics.add(next, 0, 1);
}

function decode(index: number, rows: number): Samples {
  const stored = packed.subarray(0, blocks.bytes[index] ?? 0);
  const read = readSync(descriptor, stored, 0, stored.length, blocks.offsets[index] ?? 0);
  const expected = blockWidth * rows * samples * sampleBytes;
  const bytes = blocks.isDeflated ? inflate(stored, expected) : stored;
  if (read < stored.length || bytes.length < expected) throw new Error("a block is cut off");
  const isAligned = bytes.byteOffset % 8 === 0;
  const whole = isAligned ? bytes.subarray(0, expected) : bytes.slice(0, expected);
  const shape = { width: blockWidth, height: rows, samples, sampleType, sampleBytes };
  return toSamples(whole, blocks.predictor, { ...shape, isLittleEndian: true }, spare);
}

/** In one chunk. Some writers fill the last strip up to its whole height. */
function inflate(stored: Uint8Array, expected: number): Uint8Array {
  const most = blockWidth * blockHeight * samples * sampleBytes;
  const made = inflateSync(stored, { maxOutputLength: most + 65_536, chunkSize: expected + 64 });
  return new Uint8Array(made.buffer, made.byteOffset, made.byteLength);
}

/** Copies the pixels of the reduced copy that lie in this block, band after band. */
function pick(
  values: Samples,
  part: { readonly left: number; top: number; columns: number; rows: number },
): void {
  if (reduced === undefined) return;
  const { columns, rows, pixels } = reduced;
  for (let y = 0; y < rows.length; y++) {
    const row = (rows[y] ?? 0) - part.top;
    if (row < 0 || row >= part.rows) continue;
    for (let x = 0; x < columns.length; x++) {
      const column = (columns[x] ?? 0) - part.left;
      if (column < 0 || column >= part.columns) continue;
      for (let sample = 0; sample < samples; sample++) {
        const place = (sample * rows.length + y) * columns.length + x;
        pixels[place] = values[(row * blockWidth + column) * samples + sample] ?? 0;
      }
    }
  }
}
