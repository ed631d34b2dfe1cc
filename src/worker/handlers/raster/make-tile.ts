/**
 * One tile of the output. Its place in storage follows from what it is made of, and writing there
 * is atomic: whatever lies there is this very tile, finished, by whomever, and is not made again.
 */
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { destinationOf, ownFolder, stemOf } from "./destination.ts";
import { encode, prepare } from "./encode.ts";
import { finishCog, readStored } from "./finish-cog.ts";
import type { CogWish } from "./plan-source.ts";
import type { OpenTileSource } from "./tile-source.ts";
import { temporaryFile } from "./temporary.ts";

interface TileParams extends CogWish {
  readonly blob_path: string;
  readonly output_container?: string | null | undefined;
  readonly output_prefix?: string | null | undefined;
}

export type MadeTile = Awaited<ReturnType<typeof makeTile>>;

export async function makeTile(
  context: HandlerContext,
  { source, planned }: OpenTileSource,
  params: TileParams,
  tile: RasterTile,
  [from, to]: readonly [number, number],
) {
  const { index, window } = tile;
  const destination = tileDestination(context, source.fingerprint, params, tile);
  const found = await readStored(context, destination, planned.rasterType);
  if (found !== undefined) {
    context.logger.info(`tile ${index} is finished already`, { blob_path: destination });
    return { ...found, tile_index: index, window, reused: true };
  }
  const prepared = await prepare(context, source.gdalPath, planned, { forOnePiece: false });
  const output = temporaryFile(context, `tile_${index}.tif`);
  const { plan, profile, raster } = planned;
  const [, , width, height] = window;
  await encode(context, prepared, output, {
    ...{ plan, profile, window, progress: [from, from + 0.9 * (to - from)] },
    // Other tiles are made at the same time, by this worker or by others.
    threads: 1,
    size: [width, height],
    bands: raster.bands,
    env: source.env,
  });
  const written = await finishCog(context, output, destination, planned.rasterType);
  await rm(output, { force: true });
  context.progress(to, `tile ${index}`);
  return { ...written, tile_index: index, window, reused: false };
}

function tileDestination(
  context: HandlerContext,
  fingerprint: string,
  params: TileParams,
  { index, window }: RasterTile,
): string {
  const { output_prefix, output_container, ...wishes } = params;
  const made = JSON.stringify({ fingerprint, window, wishes: onlyWishes(wishes) });
  const hash = createHash("sha256").update(made).digest("hex").slice(0, 12);
  const name = `${stemOf(params.blob_path)}_${String(index).padStart(5, "0")}_${hash}.tif`;
  const own = `${ownFolder(context).split("/")[0] ?? ""}/tiles`;
  const folder = (output_prefix ?? own).replace(/\/+$/, "");
  return destinationOf(context, { output_container, output_path: `${folder}/${name}` }, name);
}

/** What changes the pixels, and neither the list of tiles nor what only this task is told. */
function onlyWishes(wishes: Omit<TileParams, "output_prefix" | "output_container">) {
  const { source_crs, target_crs, compression, quality, block_size } = wishes;
  const { resampling, overview_resampling, nodata, raster_type } = wishes;
  return {
    ...{ source_crs, target_crs, compression, quality, block_size },
    ...{ resampling, overview_resampling, nodata, raster_type },
  };
}
