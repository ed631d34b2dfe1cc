import { setTimeout as pause } from "node:timers/promises";
import { defineHandler } from "../../define-handler.ts";

export const chunkProcessor = defineHandler("chunk_processor", async (params, context) => {
  const { items, chunk_size, seconds_per_chunk } = params;
  const chunks = Math.ceil(items.length / chunk_size);
  for (let chunk = 0; chunk < chunks; chunk++) {
    context.signal.throwIfAborted();
    if (seconds_per_chunk > 0) {
      await pause(seconds_per_chunk * 1000, undefined, { signal: context.signal });
    }
    context.progress((100 * (chunk + 1)) / chunks, `chunk ${chunk + 1} of ${chunks}`);
  }
  return { processed: items.length, chunks };
});
