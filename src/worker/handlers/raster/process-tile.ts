/** Handlers raster.process_tile and raster.process_tile_batch. */
import { z } from "zod";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { makeTile, openTileSource } from "./make-tile.ts";
import type { MadeTile } from "./make-tile.ts";

export const processTile = defineHandler("raster.process_tile", async (params, context) => {
  const tile = { ...params.tile, index: params.tile_index };
  return makeTile(context, await openTileSource(context, params), params, tile, [0, 100]);
});

export const processTileBatch = defineHandler(
  "raster.process_tile_batch",
  async (params, context) => {
    const done = await loadDone(context);
    const made: MadeTile[] = [];
    const source = await openTileSource(context, params);
    for (const [index, tile] of params.tiles.entries()) {
      context.signal.throwIfAborted();
      const progress = [index, index + 1].map((part) => (100 * part) / params.tiles.length);
      const [from = 0, to = 100] = progress;
      made.push(await makeTile(context, source, params, tile, [from, to]));
      if (!done.has(tile.index)) {
        done.add(tile.index);
        await context.checkpoint.save(`tile ${tile.index}`, { done: [...done] });
      }
    }
    return { tiles: made, count: made.length };
  },
);

const saved = z.object({ done: z.array(z.number().int()) });

/** The tiles that earlier attempts have finished: their files are in storage. */
async function loadDone({ checkpoint }: HandlerContext): Promise<Set<number>> {
  const parsed = saved.safeParse((await checkpoint.load())?.data);
  return new Set(parsed.success ? parsed.data.done : []);
}
