/**
 * Reads files of rasters and draws pictures of them. `create-renderer.ts` does so in the thread that
 * calls it; `start-render-threads.ts` passes each task to one of several threads. Every task is plain
 * data, so that it can be sent to a thread.
 */
import type { Bounds, RasterLayer } from "../../core/serving/layer.ts";
import type { PointValues, RasterInfo } from "../../core/serving/raster-info.ts";
import type { ImageFormat, RenderOptions } from "../../core/serving/render-options.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import type { Area } from "../../core/zonal/zones.ts";

/** A file in storage, with what the catalogue knows of its system. */
export interface LayerFile extends Pick<RasterLayer, "version_tag" | "wkt2" | "datum_shift"> {
  readonly path: string;
}

interface PictureTask {
  readonly options: RenderOptions;
  readonly format: ImageFormat | "auto";
}

interface ValueTask {
  readonly file: LayerFile;
  readonly bands: readonly number[] | undefined;
  readonly nodata: number | undefined;
}

interface TileTask extends PictureTask {
  readonly tile: Tile;
  readonly tileSize: number;
}

export interface Renderer {
  tile(
    task: TileTask & {
      readonly file: LayerFile;
      /** A block of the file that is this tile may be sent as it is. */
      readonly mayPass: boolean;
    },
    signal: AbortSignal,
  ): Promise<MadeTile>;
  /** `members`: the uppermost first. `samples`: those that decide the range of values. */
  mosaic(
    task: TileTask & {
      readonly members: readonly LayerFile[];
      readonly samples: readonly LayerFile[];
    },
    signal: AbortSignal,
  ): Promise<Uint8Array>;
  preview(
    task: PictureTask & { readonly file: LayerFile; readonly mostSide: number },
    signal: AbortSignal,
  ): Promise<Uint8Array>;
  point(
    task: ValueTask & { readonly lon: number; readonly lat: number },
    signal: AbortSignal,
  ): Promise<PointValues>;
  statistics(
    task: ValueTask & { readonly mostSide: number },
    signal: AbortSignal,
  ): Promise<Record<string, BandStatistics>>;
  zones(
    task: ValueTask & { readonly areas: readonly Area[] },
    signal: AbortSignal,
  ): Promise<Record<string, BandStatistics>[]>;
  info(task: { readonly file: LayerFile }): Promise<RasterInfo>;
  zooms(task: { readonly file: LayerFile }): Promise<Zooms>;
}

export interface MadeTile {
  readonly bytes: Uint8Array;
  /** The bytes are a block of the file: the disk cache need not have them too. */
  readonly isBlock: boolean;
}

export interface Zooms {
  readonly bounds: Bounds;
  readonly minZoom: number;
  readonly maxZoom: number;
}
