import { defineHandler } from "../../define-handler.ts";
import { makeTile } from "./make-tile.ts";
import { openTileSource } from "./tile-source.ts";

export const processTile = defineHandler("raster.process_tile", async (params, context) => {
  const tile = { ...params.tile, index: params.tile_index };
  return makeTile(context, await openTileSource(context, params), params, tile, [0, 100]);
});
