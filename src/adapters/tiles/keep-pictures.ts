/**
 * Pictures and values of raster layers. A renderer reads the files and draws; what it has made is
 * cached here, in memory and on disk, under the layer's version.
 */
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { Problem } from "../../core/errors.ts";
import type { MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";
import type { PointValues } from "../../core/serving/raster-info.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import { chooseOptions, optionsKey } from "../../core/serving/render-options.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { isTile, tileBox, toMercator } from "../../core/serving/web-mercator.ts";
import { createMergeRequests } from "./merge-requests.ts";
import { createMayCover } from "./mosaic.ts";
import { outside, unlessOutside } from "./outside-layer.ts";
import type {
  PictureCaches,
  PictureRequest,
  Place,
  RasterServer,
  ValueRequest,
} from "./raster-server.ts";
import type { LayerFile, MadeTile, Renderer } from "./renderer.ts";

const megabyte = 1024 * 1024;
/** Rasters that make one tile; of more than these the uppermost are shown. */
const mostMembers = 100;

export function keepPictures(renderer: Renderer, options: PictureCaches): RasterServer {
  const { disk } = options;
  const pictures = new LRUCache<string, Uint8Array>({
    maxSize: options.pictureCacheBytes ?? 64 * megabyte,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const merge = createMergeRequests<Uint8Array>();
  const limit = pLimit(options.atOnce);
  const mayCover = createMayCover();

  /** Limits how many tasks run at once. A request that was aborted while it waited is skipped. */
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
    make: (signal: AbortSignal) => Promise<MadeTile>,
  ): Promise<Uint8Array> {
    const known = pictures.get(key);
    if (known !== undefined) return known;
    return merge(key, signal, async (shared) => {
      const stored = await disk.get(key);
      const made =
        stored === undefined
          ? await whenFree(shared, () => make(shared))
          : { bytes: stored, isBlock: true };
      pictures.set(key, made.bytes);
      if (!made.isBlock) void disk.put(key, made.bytes);
      return made.bytes;
    });
  }

  function mosaicTile(
    layer: MosaicLayer,
    tile: Tile,
    { tileSize, format, options: wanted, signal }: PictureRequest & { readonly tileSize: number },
  ): Promise<Uint8Array> {
    const box = tileBox(tile);
    const near = layer.members.filter((member) => mayCover(member, box)).slice(0, mostMembers);
    const fileOf = (each: RasterLayer) =>
      layerFile(each, isPlain(wanted) ? each.path : each.data_path);
    const [members, samples] = [near.map(fileOf), layer.samples.map(fileOf)];
    const names = [...members, ...samples].map((file) => `${file.path}@${file.version_tag}`);
    const key = `mosaic ${near.length} ${names.join(" ")}|${tile.z}/${tile.x}/${tile.y}/${tileSize}|${format}|${optionsKey(wanted)}`;
    return keep(key, signal, async (shared) => {
      const task = { members, samples, tile, tileSize, format, options: wanted };
      return { bytes: await renderer.mosaic(task, shared), isBlock: false };
    });
  }

  const pointIn = (
    layer: RasterLayer,
    place: Place,
    { bands, nodata, signal }: ValueRequest,
  ): Promise<PointValues> =>
    renderer.point({ file: dataOf(layer), ...place, bands, nodata }, signal);

  return {
    async tile(layer, tile, request) {
      const { tileSize, format, signal } = request;
      if (!isTile(tile)) {
        throw new Problem("NOT_FOUND", `There is no tile ${tile.z}/${tile.x}/${tile.y}.`);
      }
      if (layer.kind === "mosaic") return mosaicTile(layer, tile, request);
      const { path, options: wanted } = choosePicture(layer, request.options);
      const mayPass = format !== "png" && format !== "webp";
      const place = `${tile.z}/${tile.x}/${tile.y}/${tileSize}`;
      const key = `${path}@${layer.version_tag}|${place}|${format}|${optionsKey(wanted)}`;
      const file = layerFile(layer, path);
      return keep(key, signal, (shared) =>
        renderer.tile({ file, tile, tileSize, format, options: wanted, mayPass }, shared),
      );
    },

    async preview(layer, { mostSide, format, options: asked, signal }) {
      const { path, options: wanted } = choosePicture(layer, asked);
      const key = `${path}@${layer.version_tag}|preview/${mostSide}|${format}|${optionsKey(wanted)}`;
      return keep(key, signal, async (shared) => {
        const task = { file: layerFile(layer, path), mostSide, format, options: wanted };
        return { bytes: await renderer.preview(task, shared), isBlock: false };
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

    statistics: (layer, { bands, nodata, mostSide, signal }) =>
      whenFree(signal, () =>
        renderer.statistics({ file: dataOf(layer), bands, nodata, mostSide }, signal),
      ),

    zones: (layer, areas, { bands, nodata, signal }) =>
      whenFree(signal, () => renderer.zones({ file: dataOf(layer), areas, bands, nodata }, signal)),

    info: (layer) => renderer.info({ file: dataOf(layer) }),

    async zooms(layer) {
      if (layer.kind === "mosaic") {
        const files = await Promise.all(
          layer.samples.map((each) => renderer.zooms({ file: layerFile(each, each.path) })),
        );
        return {
          bounds: layer.bounds,
          minZoom: Math.min(...files.map(({ minZoom }) => minZoom)),
          maxZoom: Math.max(...files.map(({ maxZoom }) => maxZoom)),
        };
      }
      const shown = await renderer.zooms({ file: layerFile(layer, layer.path) });
      if (layer.path === layer.data_path) return shown;
      // The bounds of the data, because a visualization copy is padded to whole tiles. Data in a
      // projection that cannot be drawn has those of the catalogue.
      const data = await renderer.zooms({ file: dataOf(layer) }).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        return layer;
      });
      return { ...shown, bounds: data.bounds };
    },
  };
}

function layerFile({ version_tag, wkt2, datum_shift }: RasterLayer, path: string): LayerFile {
  return { path, version_tag, wkt2: wkt2 ?? null, datum_shift: datum_shift ?? null };
}

function dataOf(layer: RasterLayer): LayerFile {
  return layerFile(layer, layer.data_path);
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
