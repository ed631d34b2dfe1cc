/**
 * Pictures and values of raster layers. Opened files, decoded blocks and encoded pictures are kept,
 * each under the layer's version, so a new version is never mixed with an old one.
 */
import { Problem } from "../../core/errors.ts";
import { apply } from "../../core/serving/affine.ts";
import { toBounds, toOwnLongitude } from "../../core/serving/coverage.ts";
import type { ImageFormat } from "../../core/serving/image-format.ts";
import type { Bounds, RasterLayer } from "../../core/serving/layer.ts";
import type { PointValues, RasterInfo } from "../../core/serving/raster-info.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import { optionsKey } from "../../core/serving/render-options.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import { computeStatistics } from "../../core/serving/statistics.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import { isTile, tileBox } from "../../core/serving/web-mercator.ts";
import type { ByteStore } from "./byte-source.ts";
import { createByteSources } from "./byte-source.ts";
import type { DiskCache } from "./disk-cache.ts";
import { encodeImage } from "./encode-image.ts";
import { createLimit } from "./limit.ts";
import { createLru } from "./lru.ts";
import { createMergeRequests } from "./merge-requests.ts";
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
    layer: RasterLayer,
    tile: Tile,
    request: PictureRequest & { readonly tileSize: number },
  ): Promise<Uint8Array>;
  preview(
    layer: RasterLayer,
    request: PictureRequest & { readonly mostSide: number },
  ): Promise<Uint8Array>;
  point(
    layer: RasterLayer,
    place: { readonly lon: number; readonly lat: number },
    request: ValueRequest,
  ): Promise<PointValues>;
  statistics(
    layer: RasterLayer,
    request: ValueRequest & { readonly mostSide: number },
  ): Promise<Record<string, BandStatistics>>;
  info(layer: RasterLayer): Promise<RasterInfo>;
  /** For TileJSON: of what is shown. */
  zooms(layer: RasterLayer): Promise<{ bounds: Bounds; minZoom: number; maxZoom: number }>;
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

  return {
    async tile(layer, tile, request) {
      const { tileSize, format, options: wanted, signal } = request;
      if (!isTile(tile)) {
        throw new Problem("NOT_FOUND", `There is no tile ${tile.z}/${tile.x}/${tile.y}.`);
      }
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
        const shown = picture ?? { ...size, ...empty(tileSize) };
        return encodeImage(shown, chooseEncoding(format, shown.isOpaque));
      });
    },

    async preview(layer, { mostSide, format, options: wanted, signal }) {
      const raster = await open(layer, shownPath(layer, wanted));
      const key = `${raster.key}|preview/${mostSide}|${format}|${optionsKey(wanted)}`;
      return keep(key, signal, async (shared) => {
        const context = { blocks, spreads, signal: shared };
        const picture = await renderWhole(raster, mostSide, wanted, context);
        return encodeImage(picture, chooseEncoding(format, picture.isOpaque));
      });
    },

    async point(layer, { lon, lat }, { bands: asked, nodata, signal }) {
      const raster = await open(layer, layer.data_path);
      const [level] = raster.levels;
      const bands = checkBands(raster, asked);
      // Far outside a projection may fold back into the raster, so its extent counts first.
      const own = toOwnLongitude(raster.extent, lon);
      const found = own === undefined ? undefined : raster.fromDegrees(own, lat);
      const [column, row] = found === undefined ? [] : apply(raster.toPixels, found[0], found[1]);
      const at = { left: Math.floor(column ?? -1), top: Math.floor(row ?? -1) };
      const isInside =
        at.left >= 0 && at.top >= 0 && at.left < level.width && at.top < level.height;
      if (!isInside) {
        throw new Problem(
          "OUTSIDE_LAYER",
          `${lon},${lat} is outside of the layer: it covers ${toBounds(raster.extent).join(", ")}.`,
        );
      }
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

    info: async (layer) => describe(await open(layer, layer.data_path)),

    async zooms(layer) {
      const { minZoom, maxZoom } = await open(layer, layer.path);
      // A copy for looking at is padded to whole tiles, and a map would show the padding.
      const { extent } = await open(layer, layer.data_path);
      return { bounds: toBounds(extent), minZoom, maxZoom };
    },
  };
}

function chooseEncoding(format: ImageFormat | "auto", isOpaque: boolean): ImageFormat {
  return format === "auto" ? (isOpaque ? "jpeg" : "png") : format;
}

/** Nothing asked for that would change the file's own colours. */
function isPlain({ bands, rescale, colormap, colormap_name, nodata }: RenderOptions): boolean {
  return [bands, rescale, colormap, colormap_name, nodata].every((each) => each === undefined);
}

/** A copy for looking at has other bands and values: what names those means the data. */
function shownPath(layer: RasterLayer, wanted: RenderOptions): string {
  return isPlain(wanted) ? layer.path : layer.data_path;
}

function empty(tileSize: number): { rgba: Uint8Array; isOpaque: boolean } {
  return { rgba: new Uint8Array(tileSize * tileSize * 4), isOpaque: false };
}

function checkBands(raster: RasterFile, asked: readonly number[] | undefined): readonly number[] {
  const all = Array.from({ length: raster.bandCount }, (_, index) => index + 1);
  const missing = asked?.find((band) => band > raster.samples);
  if (missing === undefined) return asked ?? all;
  throw new Problem("BAD_REQUEST", `The layer has no band ${missing}: it has ${raster.bandCount}.`);
}

function describe(raster: RasterFile): RasterInfo {
  const [full, ...overviews] = raster.levels;
  const { nodata, alphaBand, samples } = raster;
  const colours = ["red", "green", "blue"];
  return {
    bounds: [...toBounds(raster.extent)],
    crs: raster.code === undefined ? null : `http://www.opengis.net/def/crs/EPSG/0/${raster.code}`,
    driver: "GTiff",
    width: full.width,
    height: full.height,
    count: samples,
    dtype: raster.sampleType,
    colorinterp: Array.from({ length: samples }, (_, index) =>
      index + 1 === alphaBand
        ? "alpha"
        : raster.isColour
          ? (colours[index] ?? "undefined")
          : raster.palette !== undefined
            ? "palette"
            : index === 0
              ? "gray"
              : "undefined",
    ),
    nodata_type:
      nodata !== undefined
        ? "Nodata"
        : alphaBand !== undefined
          ? "Alpha"
          : full.mask !== undefined
            ? "Mask"
            : "None",
    nodata_value: nodata === undefined ? null : Number.isNaN(nodata) ? "nan" : nodata,
    overviews: overviews.map(({ width }) => Math.round(full.width / width)),
    minzoom: raster.minZoom,
    maxzoom: raster.maxZoom,
    band_descriptions: raster.descriptions.map((text, index) => [`b${index + 1}`, text]),
  };
}
