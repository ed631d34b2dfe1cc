/** What `read-all-blocks.ts` gives its threads, and the memory that they share. */
import type { Samples } from "../../core/serving/resample.ts";
import type { SampleType } from "../tiles/raster-file.ts";
import { typeOf } from "../tiles/to-samples.ts";
import type { PlainBlocks } from "./find-plain-blocks.ts";

export interface BlockTask {
  readonly blocks: PlainBlocks;
  readonly shared: {
    /** The next block that no thread has taken. */
    readonly next: SharedArrayBuffer;
    /** Of every band of every block. */
    readonly summaries: SharedArrayBuffer;
    readonly reduced?: ReducedTask | undefined;
  };
}

export interface ReducedTask {
  /** The columns and rows of the image that the reduced copy has. */
  readonly columns: readonly number[];
  readonly rows: readonly number[];
  readonly pixels: SharedArrayBuffer;
}

export function viewPixels({ pixels }: ReducedTask, type: SampleType): Samples {
  const array = typeOf(type);
  return new array(pixels, 0, pixels.byteLength / array.BYTES_PER_ELEMENT);
}
