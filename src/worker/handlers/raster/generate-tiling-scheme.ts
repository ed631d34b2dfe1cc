import { pixelBytes } from "../../../core/raster/data-type.ts";
import { cutTiles, tileSide, windowBounds } from "../../../core/raster/tiling.ts";
import { boundsOf } from "../../../core/raster/inspected.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { describeGrid } from "./run-gdal.ts";
import { prepareGrid } from "./encode.ts";
import { openTileSource } from "./make-tile.ts";

const megabyte = 1024 * 1024;
/** A fan-out takes no longer list; a larger tile_size_mb makes fewer tiles. */
const mostTiles = 10_000;

/** Handler raster.generate_tiling_scheme: lists the windows into which an output is cut. */
export const generateTilingScheme = defineHandler(
  "raster.generate_tiling_scheme",
  async (params, context) => {
    const { source, planned } = await openTileSource(context, params);
    const input = { file: source.file, driver: planned.raster.driver };
    const prepared = await prepareGrid(context, input, planned);
    const { width, height, transform, crs, bands } = await describeGrid(context, prepared);
    const place = crs ?? planned.raster.crs;
    if (transform === null || place === null) {
      throw new PermanentError("The output has no place on the ground.", { code: "CRS_MISSING" });
    }
    const side = tileSide(pixelBytes(bands), params.tile_size_mb * megabyte);
    const { tiles, rows, columns } = cutTiles(width, height, side);
    if (tiles.length > mostTiles) {
      throw new PermanentError(
        `Tiles of ${params.tile_size_mb} MB would be ${tiles.length}, more than ${mostTiles}: choose a larger tile_size_mb.`,
        { code: "TOO_MANY_TILES" },
      );
    }
    const tile_list = tiles.map((tile) => ({
      ...tile,
      bounds: windowBounds(transform, tile.window),
    }));
    const batches = Array.from(
      { length: Math.ceil(tile_list.length / params.batch_size) },
      (_, index) => tile_list.slice(index * params.batch_size, (index + 1) * params.batch_size),
    );
    return {
      tile_list,
      batches,
      tile_count: tiles.length,
      rows,
      columns,
      width,
      height,
      transform,
      crs: place.code ?? place.wkt2,
      bounds: boundsOf({ width, height, transform }),
    };
  },
);
