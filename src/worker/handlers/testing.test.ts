import { expect, it } from "vitest";
import { createTestContext, noGdal } from "../../../test/support/handler-context.ts";
import { chunkProcessor } from "./testing.ts";

it("chunk_processor goes through its items in chunks, and says how far it is", async () => {
  const test = await createTestContext({ gdal: noGdal });
  try {
    const items = Array.from({ length: 25 }, (_, index) => index);
    const done = await test.run(chunkProcessor, { items, chunk_size: 10, seconds_per_chunk: 0 });
    expect(done).toEqual({ processed: 25, chunks: 3 });
    const none = await test.run(chunkProcessor, {
      items: [],
      chunk_size: 10,
      seconds_per_chunk: 0,
    });
    expect(none).toEqual({ processed: 0, chunks: 0 });
  } finally {
    await test.dispose();
  }
});
