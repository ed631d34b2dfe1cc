/**
 * Pictures and values of raster layers, as the routes ask for them. The implementation is in
 * `create-raster-server.ts`, which is loaded with the first picture: the libraries of images and
 * projections are a quarter of the code of an orchestrator, and many never show a raster.
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

export interface RasterServerOptions {
  readonly storage: ByteStore;
  readonly disk: DiskCache;
  readonly blockCacheBytes?: number;
  readonly pictureCacheBytes?: number;
  /** Pictures made at once. More would only take memory: libvips and zlib have threads of their own. */
  readonly atOnce?: number;
}

export function createLazyRasterServer(options: RasterServerOptions): RasterServer {
  const server = once(async () => {
    const { createRasterServer } = await import("./create-raster-server.ts");
    return createRasterServer(options);
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
