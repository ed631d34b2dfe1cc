import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import type { RasterTile } from "../../../core/raster/tiling.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { destinationOf, ownFolder, stemOf } from "./destination.ts";
import { encode, prepare } from "./encode.ts";
import { finishCog, readStored } from "./finish-cog.ts";
import { openSource } from "./open-source.ts";
import type { OpenSource } from "./open-source.ts";
import { planSource } from "./plan-source.ts";
import type { CogParams, PlannedSource } from "./plan-source.ts";
import { temporaryFile } from "./run-gdal.ts";

interface TileSource extends CogParams {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
}

export interface OpenTileSource {
  readonly source: OpenSource;
  readonly planned: PlannedSource;
}

/**
 * Opens the source of tiles and plans their encoding. Every task plans anew from the same
 * parameters, so all of them cut the same grid. A tile is always encoded, even where the whole file
 * could be copied.
 */
export async function openTileSource(
  context: HandlerContext,
  params: TileSource,
): Promise<OpenTileSource> {
  const source = await openSource(context, params);
  const { file, display, sampleType } = source;
  const planned = await planSource(context, file, display, params, { sampleType });
  return { source, planned };
}

interface TileParams extends CogParams {
  readonly blob_path: string;
  readonly output_container?: string | null | undefined;
  readonly output_prefix?: string | null | undefined;
}

export type MadeTile = Awaited<ReturnType<typeof makeTile>>;

/**
 * Makes one tile of the output. Its path in storage is a hash of its source and its parameters, and
 * the write is atomic: a file at that path is this tile, finished by another attempt, and is used
 * as it is.
 */
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
  const output = temporaryFile(context, `tile_${index}.tif`);
  const { plan, profile, raster } = planned;
  const input = { file: source.file, driver: raster.driver };
  const prepared = await prepare(context, input, planned, { forOnePiece: false, window });
  const [, , width, height] = window;
  await encode(context, prepared, output, {
    plan,
    profile,
    window,
    progress: [from, from + 0.9 * (to - from)],
    // Other tiles are made at the same time, on this worker or on others.
    threads: 1,
    size: [width, height],
    bands: raster.bands,
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
  const { output_prefix, output_container } = params;
  const identity = JSON.stringify({ fingerprint, window, wishes: pixelParams(params) });
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 12);
  const name = `${stemOf(params.blob_path)}_${String(index).padStart(5, "0")}_${hash}.tif`;
  const own = `${ownFolder(context).split("/")[0] ?? ""}/tiles`;
  const folder = (output_prefix ?? own).replace(/\/+$/, "");
  return destinationOf(context, { output_container, output_path: `${folder}/${name}` }, name);
}

/**
 * The parameters that change the pixels of a tile; a tile's path depends on them and their order.
 */
function pixelParams(params: TileParams) {
  const { source_crs, target_crs, compression, quality, block_size } = params;
  const { resampling, overview_resampling, nodata, raster_type } = params;
  return {
    source_crs,
    target_crs,
    compression,
    quality,
    block_size,
    resampling,
    overview_resampling,
    nodata,
    raster_type,
  };
}
