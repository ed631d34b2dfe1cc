/**
 * Reads every block of a plain TIFF in threads: their statistics, and the pixels of a reduced copy in
 * the same pass. GDAL's programs do each with one thread and a process of its own.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { addSummaries, summaryLength } from "../../core/raster/block-statistics.ts";
import type { RasterBand } from "../../core/raster/facts.ts";
import type { Samples } from "../../core/serving/resample.ts";
import type { BlockTask, ReducedTask } from "./block-task.ts";
import { viewPixels } from "./block-task.ts";
import type { PlainBlocks } from "./find-plain-blocks.ts";

export interface ReadBlocks {
  /** Of each band; null for one without a valid pixel. */
  readonly statistics: readonly RasterBand["statistics"][];
  /** The reduced copy of each band, row by row. */
  readonly reduced: readonly Samples[] | undefined;
}

/** A thread for so many bytes of pixels: starting it takes as long as decoding a few megabytes. */
const bytesPerThread = 8 * 1024 * 1024;
const mostThreads = 8;

const threadFile = new URL(
  import.meta.url.replace(/\/(src|dist)\/adapters\/cog\/[^/]+$/, "/dist/programs/block-thread.js"),
);

/**
 * Undefined where a block is damaged or a value infinite; GDAL then says what it finds. `reduce`: the size
 * of the copy in columns and rows.
 */
export async function readAllBlocks(
  blocks: PlainBlocks,
  reduce: readonly [number, number] | undefined,
  signal: AbortSignal,
): Promise<ReadBlocks | undefined> {
  const { width, height, samples, sampleBytes } = blocks;
  const summaries = new SharedArrayBuffer(8 * summaryLength * samples * blocks.offsets.length);
  const reduced = reduce && planReduced(blocks, reduce);
  const shared = { next: new SharedArrayBuffer(4), summaries, reduced };
  const wanted = Math.ceil((width * height * samples * sampleBytes) / bytesPerThread);
  const count = Math.min(wanted, availableParallelism(), mostThreads);
  if (!(await runThreads({ blocks, shared }, count, signal))) return undefined;
  const found = Array.from({ length: samples }, (_, band) =>
    addSummaries(new Float64Array(summaries), samples, band, width * height),
  );
  const statistics = found.filter((each) => each !== undefined);
  if (statistics.length < samples) return undefined;
  return { statistics, reduced: reduced && splitBands(blocks, reduced) };
}

/** The nearest pixel to the centre of each pixel of the copy, as GDAL takes it. */
function planReduced(blocks: PlainBlocks, [columns, rows]: readonly [number, number]): ReducedTask {
  const nearest = (size: number, count: number) =>
    Array.from({ length: count }, (_, index) => Math.floor(((index + 0.5) * size) / count));
  const bytes = columns * rows * blocks.samples * blocks.sampleBytes;
  return {
    columns: nearest(blocks.width, columns),
    rows: nearest(blocks.height, rows),
    pixels: new SharedArrayBuffer(bytes),
  };
}

function splitBands({ sampleType, samples }: PlainBlocks, reduced: ReducedTask): Samples[] {
  const all = viewPixels(reduced, sampleType);
  const pixels = reduced.columns.length * reduced.rows.length;
  return Array.from({ length: samples }, (_, band) =>
    all.subarray(band * pixels, (band + 1) * pixels),
  );
}

/** False: a thread has failed, and the others were stopped. */
async function runThreads(task: BlockTask, count: number, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  const threads = Array.from(
    { length: count },
    () => new Worker(threadFile, { workerData: task, execArgv: [] }),
  );
  const stop = () => {
    for (const thread of threads) void thread.terminate();
  };
  signal.addEventListener("abort", stop, { once: true });
  const ends = await Promise.all(
    threads.map(
      (thread) =>
        new Promise<boolean>((resolve) => {
          thread.once("error", () => {
            stop();
            resolve(false);
          });
          thread.once("exit", (code) => {
            resolve(code === 0);
          });
        }),
    ),
  );
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
  return ends.every(Boolean);
}
