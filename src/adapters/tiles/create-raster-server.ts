/**
 * Pictures and values of raster layers. Opened files, decoded blocks and encoded pictures are cached
 * under the layer's version, so that a new version never mixes with an old one.
 */
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { Problem } from "../../core/errors.ts";
import { apply } from "../../core/serving/affine.ts";
import { toBounds, toOwnLongitude } from "../../core/serving/coverage.ts";
import type { Bounds, MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";
import type { PointValues } from "../../core/serving/raster-info.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import { chooseOptions, optionsKey } from "../../core/serving/render-options.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import { computeStatistics } from "../../core/serving/statistics.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { isTile, tileBox, toMercator } from "../../core/serving/web-mercator.ts";
import { cached } from "../runtime/cached.ts";
import { zoneStatistics } from "./zone-statistics.ts";
import { createByteSources } from "./byte-source.ts";
import { emptyPicture, encodeImage } from "./encode-image.ts";
import { createMergeRequests } from "./merge-requests.ts";
import { createMayCover, renderMosaic } from "./mosaic.ts";
import { openRaster } from "./open-raster.ts";
import { passBlock } from "./pass-through.ts";
import type { RasterFile } from "./raster-file.ts";
import { describeRaster } from "./raster-file.ts";
import type {
  PictureRequest,
  Place,
  RasterServer,
  RasterServerOptions,
  ValueRequest,
} from "./raster-server.ts";
import { createBlockCache, readBands } from "./read-window.ts";
import type { SpreadCache } from "./render.ts";
import { readWhole, renderBox, renderWhole } from "./render.ts";

const megabyte = 1024 * 1024;
const mostOpenFiles = 128;
const mostSpreads = 2000;
/** Rasters that make one tile; of more than these the uppermost are shown. */
const mostMembers = 100;

export function createRasterServer(options: RasterServerOptions): RasterServer {
  const { storage, disk } = options;
  const sources = createByteSources(storage);
  const files = new LRUCache<string, Promise<RasterFile>>({ max: mostOpenFiles });
  const blocks = createBlockCache(options.blockCacheBytes ?? 128 * megabyte);
  const spreads: SpreadCache = new LRUCache({ max: mostSpreads });
  const pictures = new LRUCache<string, Uint8Array>({
    maxSize: options.pictureCacheBytes ?? 64 * megabyte,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const merge = createMergeRequests<Uint8Array>();
  const limit = pLimit(options.atOnce ?? 4);
  const mayCover = createMayCover();

  async function open(layer: RasterLayer, path: string): Promise<RasterFile> {
    const key = `${path}@${layer.version_tag}`;
    return cached(files, key, () => readFile(key, path, layer));
  }

  async function readFile(
    key: string,
    path: string,
    { wkt2, datum_shift }: RasterLayer,
  ): Promise<RasterFile> {
    const found = await storage.head(path);
    if (found === undefined) {
      throw new Problem("LAYER_UNREADABLE", "The layer's file is not in storage any more.");
    }
    const place = { wkt2: wkt2 ?? undefined, shift: datum_shift };
    return openRaster(sources(key, path, found.bytes), { key, ...place });
  }

  /** Limits how many pictures are made at once. A request that was aborted while it waited is skipped. */
  function whenFree<Value>(signal: AbortSignal, make: () => Promise<Value>): Promise<Value> {
    return limit(() => {
      signal.throwIfAborted();
      return make();
    });
  }

  /** Answers from memory, from disk, or makes the picture, once for all requests that wait for it. */
  async function keep(
    key: string,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const known = pictures.get(key);
    if (known !== undefined) return known;
    return merge(key, signal, async (shared) => {
      const stored = await disk.get(key);
      const bytes = stored ?? (await whenFree(shared, () => make(shared)));
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
    // Checked by the extent first: far outside, a projection may fold back into the raster.
    const own = toOwnLongitude(raster.extent, lon);
    const found = own === undefined ? undefined : raster.fromDegrees(own, lat);
    const [column, row] = found === undefined ? [] : apply(raster.toPixels, found[0], found[1]);
    const at = { left: Math.floor(column ?? -1), top: Math.floor(row ?? -1) };
    const isInside = at.left >= 0 && at.top >= 0 && at.left < level.width && at.top < level.height;
    if (!isInside) throw outside({ lon, lat }, toBounds(raster.extent));
    const window = { ...at, width: 1, height: 1 };
    const read = await readBands(raster, { level, window, bands, nodata, signal }, blocks);
    return {
      coordinates: [lon, lat],
      values: read.map(({ values: [value], mask }) =>
        mask[0] !== 0 && value !== undefined && Number.isFinite(value) ? value : null,
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
      (each) => `${isPlain(wanted) ? each.path : each.data_path}@${each.version_tag}`,
    );
    const key = `mosaic ${near.length} ${names.join(" ")}|${tile.z}/${tile.x}/${tile.y}/${tileSize}|${format}|${optionsKey(wanted)}`;
    return keep(key, signal, async (shared) => {
      const openers = (layers: readonly RasterLayer[]) =>
        layers.map((each) => () => open(each, isPlain(wanted) ? each.path : each.data_path));
      const rasters = { members: openers(near), samples: openers(layer.samples) };
      const size = { width: tileSize, height: tileSize };
      const context = { blocks, spreads, signal: shared };
      const picture = await renderMosaic(rasters, box, size, wanted, context);
      return encodeImage(picture ?? emptyPicture(size), format);
    });
  }

  return {
    async tile(layer, tile, request) {
      const { tileSize, format, signal } = request;
      if (!isTile(tile)) {
        throw new Problem("NOT_FOUND", `There is no tile ${tile.z}/${tile.x}/${tile.y}.`);
      }
      if (layer.kind === "mosaic") return mosaicTile(layer, tile, request);
      const { path, options: wanted } = choosePicture(layer, request.options);
      const raster = await open(layer, path);
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
        return encodeImage(picture ?? emptyPicture(size), format);
      });
    },

    async preview(layer, { mostSide, format, options, signal }) {
      const { path, options: wanted } = choosePicture(layer, options);
      const raster = await open(layer, path);
      const key = `${raster.key}|preview/${mostSide}|${format}|${optionsKey(wanted)}`;
      return keep(key, signal, async (shared) => {
        const context = { blocks, spreads, signal: shared };
        const picture = await renderWhole(raster, mostSide, wanted, context);
        return encodeImage(picture, format);
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
        const { bands, mask } = await whenFree(signal, () =>
          readWhole(raster, mostSide, wanted, context),
        );
        if (bands[0] !== undefined) found.push([`b${band}`, computeStatistics(bands[0], mask)]);
      }
      return Object.fromEntries(found);
    },

    async zones(layer, areas, { bands: asked, nodata, signal }) {
      const raster = await open(layer, layer.data_path);
      const bands = checkBands(raster, asked);
      return whenFree(signal, () =>
        zoneStatistics(raster, areas, { bands, nodata, signal, blocks }),
      );
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
      // The bounds of the data, because a visualization copy is padded to whole tiles. Data in a
      // projection that cannot be drawn has those of the catalogue.
      const data = await open(layer, layer.data_path).catch((error: unknown) => {
        if (layer.path === layer.data_path || !(error instanceof Problem)) throw error;
        return undefined;
      });
      const bounds = data === undefined ? layer.bounds : toBounds(data.extent);
      return { bounds, minZoom, maxZoom };
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

/** True: the request changes nothing about the colours of the file. */
function isPlain({ bands, rescale, colormap, colormap_name, nodata }: RenderOptions): boolean {
  return [bands, rescale, colormap, colormap_name, nodata].every((each) => each === undefined);
}

/**
 * The file that a request shows, and the options that apply to it. A visualization copy has other
 * bands and values than the data, so it answers the requests that ask for what it was made to show:
 * those without options, and those with the options of the item's own style.
 */
function choosePicture(
  { path, data_path, copy }: RasterLayer,
  wanted: RenderOptions,
): { readonly path: string; readonly options: RenderOptions } {
  const { resampling } = wanted;
  if (isPlain(wanted)) return { path, options: wanted };
  if (copy === undefined || path === data_path) return { path: data_path, options: wanted };
  const own = { ...chooseOptions({}, copy.style), resampling };
  if (optionsKey(own) !== optionsKey(wanted)) return { path: data_path, options: wanted };
  return { path, options: copy.shows === "picture" ? { resampling } : wanted };
}

function checkBands(raster: RasterFile, asked: readonly number[] | undefined): readonly number[] {
  const all = Array.from({ length: raster.bandCount }, (_, index) => index + 1);
  const missing = asked?.find((band) => band > raster.samples);
  if (missing === undefined) return asked ?? all;
  throw new Problem("BAD_REQUEST", `The layer has no band ${missing}: it has ${raster.bandCount}.`);
}
