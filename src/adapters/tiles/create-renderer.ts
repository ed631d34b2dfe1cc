/**
 * Reads and draws in the thread that calls it. Opened files and decoded blocks are cached under the
 * layer's version, so that a new version never mixes with an old one.
 */
import { LRUCache } from "lru-cache";
import { Problem } from "../../core/errors.ts";
import { apply } from "../../core/serving/affine.ts";
import { toBounds, toOwnLongitude } from "../../core/serving/coverage.ts";
import type { BandStatistics } from "../../core/serving/statistics.ts";
import { computeStatistics } from "../../core/serving/statistics.ts";
import { tileBox } from "../../core/serving/web-mercator.ts";
import { cached } from "../runtime/cached.ts";
import type { ByteStore } from "./byte-source.ts";
import { createByteSources } from "./byte-source.ts";
import { emptyPicture, encodeImage } from "./encode-image.ts";
import { renderMosaic } from "./mosaic.ts";
import { openRaster } from "./open-raster.ts";
import { passBlock, showsAsStored } from "./pass-through.ts";
import type { RasterFile } from "./raster-file.ts";
import { describeRaster } from "./raster-file.ts";
import { createMemory } from "./reuse-memory.ts";
import { createBlockCache, readBands } from "./read-window.ts";
import type { SpreadCache } from "./render.ts";
import { readWhole, renderBox, renderWhole } from "./render.ts";
import type { LayerFile, Renderer } from "./renderer.ts";
import { outside } from "./outside-layer.ts";
import { zoneStatistics } from "./zone-statistics.ts";

const mostOpenFiles = 128;
const mostSpreads = 2000;

export function createRenderer(storage: ByteStore, blockCacheBytes: number): Renderer {
  const sources = createByteSources(storage);
  const files = new LRUCache<string, Promise<RasterFile>>({ max: mostOpenFiles });
  const blocks = createBlockCache(blockCacheBytes);
  const useMemory = createMemory();
  const spreads: SpreadCache = new LRUCache({ max: mostSpreads });

  function open(file: LayerFile): Promise<RasterFile> {
    const key = `${file.path}@${file.version_tag}`;
    return cached(files, key, () => readHeader(key, file));
  }

  async function readHeader(
    key: string,
    { path, wkt2, datum_shift }: LayerFile,
  ): Promise<RasterFile> {
    const found = await storage.head(path);
    if (found === undefined) {
      throw new Problem("LAYER_UNREADABLE", "The layer's file is not in storage any more.");
    }
    const place = { wkt2: wkt2 ?? undefined, shift: datum_shift };
    return openRaster(sources(key, path, found.bytes), { key, ...place });
  }

  return {
    async tile({ file, tile, tileSize, format, options, mayPass }, signal) {
      const raster = await open(file);
      const isAsStored = mayPass && showsAsStored(raster, options);
      const block = isAsStored ? await passBlock(raster, tile, tileSize, blocks) : undefined;
      if (block !== undefined) return { bytes: block, isBlock: true };
      const size = { width: tileSize, height: tileSize };
      const bytes = await useMemory(async (memory) => {
        const context = { blocks, spreads, signal, memory };
        const picture = await renderBox(raster, tileBox(tile), size, options, context);
        return encodeImage(picture ?? emptyPicture(size), format);
      });
      return { bytes, isBlock: false };
    },

    async mosaic({ members, samples, tile, tileSize, format, options }, signal) {
      const openers = (list: readonly LayerFile[]) => list.map((file) => () => open(file));
      const rasters = { members: openers(members), samples: openers(samples) };
      const size = { width: tileSize, height: tileSize };
      const context = { blocks, spreads, signal };
      const picture = await renderMosaic(rasters, tileBox(tile), size, options, context);
      return encodeImage(picture ?? emptyPicture(size), format);
    },

    async preview({ file, mostSide, format, options }, signal) {
      const context = { blocks, spreads, signal };
      const picture = await renderWhole(await open(file), mostSide, options, context);
      return encodeImage(picture, format);
    },

    async point({ file, lon, lat, bands: asked, nodata }, signal) {
      const raster = await open(file);
      const [level] = raster.levels;
      const bands = checkBands(raster, asked);
      // Checked by the extent first: far outside, a projection may fold back into the raster.
      const own = toOwnLongitude(raster.extent, lon);
      const found = own === undefined ? undefined : raster.fromDegrees(own, lat);
      const [column, row] = found === undefined ? [] : apply(raster.toPixels, found[0], found[1]);
      const at = { left: Math.floor(column ?? -1), top: Math.floor(row ?? -1) };
      const isInside =
        at.left >= 0 && at.top >= 0 && at.left < level.width && at.top < level.height;
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
    },

    async statistics({ file, bands: asked, nodata, mostSide }, signal) {
      const raster = await open(file);
      const context = { blocks, signal };
      const found: [string, BandStatistics][] = [];
      for (const band of checkBands(raster, asked)) {
        const wanted = { bands: [band], nodata, resampling: "nearest" } as const;
        const { bands, mask } = await readWhole(raster, mostSide, wanted, context);
        if (bands[0] !== undefined) found.push([`b${band}`, computeStatistics(bands[0], mask)]);
      }
      return Object.fromEntries(found);
    },

    async zones({ file, areas, bands: asked, nodata }, signal) {
      const raster = await open(file);
      const bands = checkBands(raster, asked);
      return zoneStatistics(raster, areas, { bands, nodata, signal, blocks });
    },

    info: async ({ file }) => describeRaster(await open(file)),

    async zooms({ file }) {
      const { extent, minZoom, maxZoom } = await open(file);
      return { bounds: toBounds(extent), minZoom, maxZoom };
    },
  };
}

function checkBands(raster: RasterFile, asked: readonly number[] | undefined): readonly number[] {
  const all = Array.from({ length: raster.bandCount }, (_, index) => index + 1);
  const missing = asked?.find((band) => band > raster.samples);
  if (missing === undefined) return asked ?? all;
  throw new Problem("BAD_REQUEST", `The layer has no band ${missing}: it has ${raster.bandCount}.`);
}
