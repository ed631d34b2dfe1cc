/**
 * Pictures and values of raster layers. Opened files, decoded blocks and encoded pictures are kept,
 * each under the layer's version, so a new version is never mixed with an old one.
 */
import { Problem } from "../../core/errors.ts";
import { apply } from "../../core/serving/affine.ts";
import { toBounds, toOwnLongitude } from "../../core/serving/coverage.ts";
import type { ImageFormat, RenderOptions } from "../../core/serving/render-options.ts";
import type { Bounds, MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";
import type { Picture } from "../../core/serving/paint.ts";
import type { PointValues, RasterInfo } from "../../core/serving/raster-info.ts";
import { optionsKey } from "../../core/serving/render-options.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import { computeStatistics } from "../../core/serving/statistics.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { isTile, tileBox, toMercator } from "../../core/serving/web-mercator.ts";
import type { ByteStore } from "./byte-source.ts";
import { createByteSources } from "./byte-source.ts";
import { describeRaster } from "./describe-raster.ts";
import type { DiskCache } from "./disk-cache.ts";
import { encodeImage } from "./encode-image.ts";
import { createLimit } from "./limit.ts";
import { createLru } from "./lru.ts";
import { createMergeRequests } from "./merge-requests.ts";
import { createMayCover } from "./may-cover.ts";
import { renderMosaic } from "./mosaic.ts";
import { openRaster } from "./open-raster.ts";
import { passBlock } from "./pass-through.ts";
import type { RasterFile } from "./raster-file.ts";
import { createBlockCache, readWindow } from "./read-window.ts";
import type { RenderContext } from "./render.ts";
import { readWhole, renderBox, renderWhole } from "./render.ts";

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
  info(layer: RasterLayer): Promise<RasterInfo>;
  /** For TileJSON: of what is shown. */
  zooms(
    layer: RasterLayer | MosaicLayer,
  ): Promise<{ bounds: Bounds; minZoom: number; maxZoom: number }>;
}

interface Place {
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
  /** Pictures made at once. More would only hold more memory: libvips and zlib have their threads. */
  readonly atOnce?: number;
}

const megabyte = 1024 * 1024;
const mostOpenFiles = 128;
/** Rasters that make one tile; of more than these the uppermost are shown. */
const mostMembers = 100;

export function createRasterServer(options: RasterServerOptions): RasterServer {
  const { storage, disk } = options;
  const sources = createByteSources(storage);
  const files = createLru<Promise<RasterFile>>(mostOpenFiles, () => 1);
  const blocks = createBlockCache(options.blockCacheBytes ?? 128 * megabyte);
  const spreads: RenderContext["spreads"] = new Map();
  const pictures = createLru<Uint8Array>(
    options.pictureCacheBytes ?? 64 * megabyte,
    ({ byteLength }) => byteLength,
  );
  const merge = createMergeRequests<Uint8Array>();
  const limit = createLimit(options.atOnce ?? 4);
  const mayCover = createMayCover();

  async function open(layer: RasterLayer, path: string): Promise<RasterFile> {
    const key = `${path}@${layer.version_tag}`;
    const known = files.get(key);
    if (known !== undefined) return known;
    const opened = begin(key, path, layer.wkt2 ?? undefined);
    files.set(key, opened);
    opened.catch(() => {
      files.delete(key);
    });
    return opened;
  }

  async function begin(key: string, path: string, wkt2: string | undefined): Promise<RasterFile> {
    const found = await storage.head(path);
    if (found === undefined) {
      throw new Problem("LAYER_UNREADABLE", "The layer's file is not in storage any more.");
    }
    return openRaster(sources(key, path, found.bytes), { key, wkt2 });
  }

  /** From memory, from disk, or made; what is asked for twice at the same time is made once. */
  async function keep(
    key: string,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const known = pictures.get(key);
    if (known !== undefined) return known;
    return merge(key, signal, async (shared) => {
      const stored = await disk.get(key);
      const bytes = stored ?? (await limit(shared, () => make(shared)));
      pictures.set(key, bytes);
      if (stored === undefined) void disk.put(key, bytes);
      return bytes;
    });
  }

  async function pointIn(
    layer: RasterLayer,
    { lon, lat }: Place,
    { bands: asked, nodata, signal }: ValueRequest,
  ): Promise<PointValues> {
    const raster = await open(layer, layer.data_path);
    const [level] = raster.levels;
    const bands = checkBands(raster, asked);
    // Far outside a projection may fold back into the raster, so its extent counts first.
    const own = toOwnLongitude(raster.extent, lon);
    const found = own === undefined ? undefined : raster.fromDegrees(own, lat);
    const [column, row] = found === undefined ? [] : apply(raster.toPixels, found[0], found[1]);
    const at = { left: Math.floor(column ?? -1), top: Math.floor(row ?? -1) };
    const isInside = at.left >= 0 && at.top >= 0 && at.left < level.width && at.top < level.height;
    if (!isInside) throw outside({ lon, lat }, toBounds(raster.extent));
    const window = { ...at, width: 1, height: 1 };
    const pixels = await readWindow(raster, { level, window, bands, nodata, signal }, blocks);
    const isValid = pixels.mask[0] !== 0;
    return {
      coordinates: [lon, lat],
      values: pixels.bands.map(([value]) =>
        isValid && value !== undefined && Number.isFinite(value) ? value : null,
      ),
      band_names: bands.map((band) => `b${band}`),
    };
  }

  async function mosaicTile(
    layer: MosaicLayer,
    tile: Tile,
    { tileSize, format, options: wanted, signal }: PictureRequest & { readonly tileSize: number },
  ): Promise<Uint8Array> {
    const box = tileBox(tile);
    const near = layer.members.filter((member) => mayCover(member, box)).slice(0, mostMembers);
    const names = [...near, ...layer.samples].map(
      (each) => `${shownPath(each, wanted)}@${each.version_tag}`,
    );
    const key = `mosaic ${near.length} ${names.join(" ")}|${tile.z}/${tile.x}/${tile.y}/${tileSize}|${format}|${optionsKey(wanted)}`;
    return keep(key, signal, async (shared) => {
      const openers = (layers: readonly RasterLayer[]) =>
        layers.map((each) => () => open(each, shownPath(each, wanted)));
      const rasters = { members: openers(near), samples: openers(layer.samples) };
      const size = { width: tileSize, height: tileSize };
      const context = { blocks, spreads, signal: shared };
      const picture = await renderMosaic(rasters, box, size, wanted, context);
      return encode(picture ?? emptyOf(size), format);
    });
  }

  return {
    async tile(layer, tile, request) {
      const { tileSize, format, options: wanted, signal } = request;
      if (!isTile(tile)) {
        throw new Problem("NOT_FOUND", `There is no tile ${tile.z}/${tile.x}/${tile.y}.`);
      }
      if (layer.kind === "mosaic") return mosaicTile(layer, tile, request);
      const raster = await open(layer, shownPath(layer, wanted));
      if (format !== "png" && format !== "webp" && isPlain(wanted)) {
        const block = await passBlock(raster, tile, tileSize, blocks);
        if (block !== undefined) return block;
      }
      const place = `${tile.z}/${tile.x}/${tile.y}/${tileSize}`;
      const key = `${raster.key}|${place}|${format}|${optionsKey(wanted)}`;
      return keep(key, signal, async (shared) => {
        const context = { blocks, spreads, signal: shared };
        const size = { width: tileSize, height: tileSize };
        const picture = await renderBox(raster, tileBox(tile), size, wanted, context);
        return encode(picture ?? emptyOf(size), format);
      });
    },

    async preview(layer, { mostSide, format, options: wanted, signal }) {
      const raster = await open(layer, shownPath(layer, wanted));
      const key = `${raster.key}|preview/${mostSide}|${format}|${optionsKey(wanted)}`;
      return keep(key, signal, async (shared) => {
        const context = { blocks, spreads, signal: shared };
        const picture = await renderWhole(raster, mostSide, wanted, context);
        return encode(picture, format);
      });
    },

    async point(layer, place, request) {
      if (layer.kind === "raster") return pointIn(layer, place, request);
      const [x, y] = toMercator(place.lon, place.lat);
      const near = layer.members.filter((member) => mayCover(member, [x - 1, y - 1, x + 1, y + 1]));
      let empty: PointValues | undefined;
      for (const member of near.slice(0, mostMembers)) {
        const found = await pointIn(member, place, request).catch(unlessOutside);
        if (found?.values.some((value) => value !== null) === true) return found;
        empty ??= found;
      }
      if (empty !== undefined) return empty;
      throw outside(place, layer.bounds);
    },

    async statistics(layer, { bands: asked, nodata, mostSide, signal }) {
      const raster = await open(layer, layer.data_path);
      const context = { blocks, signal };
      const found: [string, BandStatistics][] = [];
      for (const band of checkBands(raster, asked)) {
        const wanted = { bands: [band], nodata, resampling: "nearest" } as const;
        const { bands, mask } = await limit(signal, () =>
          readWhole(raster, mostSide, wanted, context),
        );
        if (bands[0] !== undefined) found.push([`b${band}`, computeStatistics(bands[0], mask)]);
      }
      return Object.fromEntries(found);
    },

    info: async (layer) => describeRaster(await open(layer, layer.data_path)),

    async zooms(layer) {
      if (layer.kind === "mosaic") {
        const files = await Promise.all(layer.samples.map((each) => open(each, each.path)));
        return {
          bounds: layer.bounds,
          minZoom: Math.min(...files.map(({ minZoom }) => minZoom)),
          maxZoom: Math.max(...files.map(({ maxZoom }) => maxZoom)),
        };
      }
      const { minZoom, maxZoom } = await open(layer, layer.path);
      // A copy for looking at is padded to whole tiles, and a map would show the padding.
      const { extent } = await open(layer, layer.data_path);
      return { bounds: toBounds(extent), minZoom, maxZoom };
    },
  };
}

function outside({ lon, lat }: Place, bounds: Bounds): Problem {
  return new Problem(
    "OUTSIDE_LAYER",
    `${lon},${lat} is outside of the layer: it covers ${bounds.join(", ")}.`,
  );
}

function unlessOutside(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== "OUTSIDE_LAYER") throw error;
}

/** A picture with holes needs a format that has them. */
function encode(picture: Picture, format: ImageFormat | "auto"): Promise<Uint8Array> {
  return encodeImage(picture, format === "auto" ? (picture.isOpaque ? "jpeg" : "png") : format);
}

/** Nothing asked for that would change the file's own colours. */
function isPlain({ bands, rescale, colormap, colormap_name, nodata }: RenderOptions): boolean {
  return [bands, rescale, colormap, colormap_name, nodata].every((each) => each === undefined);
}

/** A copy for looking at has other bands and values: what names those means the data. */
function shownPath(layer: RasterLayer, wanted: RenderOptions): string {
  return isPlain(wanted) ? layer.path : layer.data_path;
}

function emptyOf(size: { readonly width: number; readonly height: number }): Picture {
  return { ...size, rgba: new Uint8Array(size.width * size.height * 4), isOpaque: false };
}

function checkBands(raster: RasterFile, asked: readonly number[] | undefined): readonly number[] {
  const all = Array.from({ length: raster.bandCount }, (_, index) => index + 1);
  const missing = asked?.find((band) => band > raster.samples);
  if (missing === undefined) return asked ?? all;
  throw new Problem("BAD_REQUEST", `The layer has no band ${missing}: it has ${raster.bandCount}.`);
}
