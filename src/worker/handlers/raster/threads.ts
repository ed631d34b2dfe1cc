import { availableParallelism } from "node:os";
import type { HandlerContext } from "../../define-handler.ts";

/** Compiled to WebAssembly, GDAL has no threads, and waits for ever for those that it is told to use. */
export function threadsOf({ gdal }: HandlerContext): number {
  return gdal.engine === "wasm" ? 1 : availableParallelism();
}
