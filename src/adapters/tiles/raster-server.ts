/**
 * Pictures and values of raster layers, as the routes ask for them. Threads read the files and draw
 * (`start-render-threads.ts`), so that the orchestrator answers other requests meanwhile;
 * `keep-pictures.ts` caches what they have made. Both are loaded with the first picture, because many
 * orchestrators never show a raster.
 */
import { once } from "../../core/once.ts";
import type { ImageFormat } from "../../core/serving/render-options.ts";
import type { Bounds, MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";
import type { PointValues, RasterInfo } from "../../core/serving/raster-info.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import type { Area } from "../../core/zonal/zones.ts";
import type { ByteStore } from "./byte-source.ts";
import type { DiskCache } from "./disk-cache.ts";

export interface PictureRequest {
  readonly options: RenderOptions;
  readonly format: ImageFormat | "auto";
  readonly signal: AbortSignal;
}

export interface RasterServer {
  tile(
    layer: RasterLayer | MosaicLayer,
    tile: Tile,
    request: PictureRequest & { readonly tileSize: number },
  ): Promise<Uint8Array>;
  preview(
    layer: RasterLayer,
    request: PictureRequest & { readonly mostSide: number },
  ): Promise<Uint8Array>;
  point(
    layer: RasterLayer | MosaicLayer,
    place: Place,
    request: ValueRequest,
  ): Promise<PointValues>;
  statistics(
    layer: RasterLayer,
    request: ValueRequest & { readonly mostSide: number },
  ): Promise<Record<string, BandStatistics>>;
  /** Statistics of each area, weighted by the exact shares of its pixels. */
  zones(
    layer: RasterLayer,
    areas: readonly Area[],
    request: ValueRequest,
  ): Promise<Record<string, BandStatistics>[]>;
  info(layer: RasterLayer): Promise<RasterInfo>;
  /** For TileJSON: of the file that tiles show. */
  zooms(
    layer: RasterLayer | MosaicLayer,
  ): Promise<{ bounds: Bounds; minZoom: number; maxZoom: number }>;
}

export interface Place {
  readonly lon: number;
  readonly lat: number;
}

export interface ValueRequest {
  readonly bands: readonly number[] | undefined;
  readonly nodata: number | undefined;
  readonly signal: AbortSignal;
}

export interface ThreadLog {
  error(fields: object, message: string): void;
}

export interface PictureCaches {
  readonly disk: DiskCache;
  readonly pictureCacheBytes?: number;
  /** Pictures made at once. More would only take memory. */
  readonly atOnce: number;
}

/** Pictures and values that threads make, which start with the first request. */
export function createLazyRasterServer(
  options: { readonly storage: ByteStore; readonly log: ThreadLog } & Omit<PictureCaches, "atOnce">,
): RasterServer {
  const server = once(async () => {
    const { keepPictures } = await import("./keep-pictures.ts");
    const { startRenderThreads } = await import("./start-render-threads.ts");
    const { renderer, atOnce } = startRenderThreads(options.storage, options.log);
    return keepPictures(renderer, { ...options, atOnce });
  });
  return {
    tile: async (...given) => (await server()).tile(...given),
    preview: async (...given) => (await server()).preview(...given),
    point: async (...given) => (await server()).point(...given),
    statistics: async (...given) => (await server()).statistics(...given),
    zones: async (...given) => (await server()).zones(...given),
    info: async (...given) => (await server()).info(...given),
    zooms: async (...given) => (await server()).zooms(...given),
  };
}
