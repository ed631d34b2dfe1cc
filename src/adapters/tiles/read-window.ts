/** Reads a window of one level as bands and a mask, from decoded blocks that are cached. */
import { PlanarConfiguration, TiffTag } from "@cogeotiff/core";
import type { TiffImage } from "@cogeotiff/core";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { Problem } from "../../core/errors.ts";
import type { Memory } from "../../core/serving/memory.ts";
import { newMemory } from "../../core/serving/memory.ts";
import type { Pixels, Samples } from "../../core/serving/resample.ts";
import { cached } from "../runtime/cached.ts";
import { decodeBits, decodeBlock, refuseLarge } from "./decode-block.ts";
import { maskNodata } from "./mask-nodata.ts";
import { bytesOf } from "./open-raster.ts";
import type { Level, RasterFile } from "./raster-file.ts";
import { typeOf } from "./to-samples.ts";

export interface Window {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface WindowRequest {
  readonly level: Level;
  readonly window: Window;
  /** From 1. */
  readonly bands: readonly number[];
  /** Replaces the nodata value of the file. */
  readonly nodata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly memory?: Memory | undefined;
}

/** Decoded blocks. Undefined: the file leaves this block out. */
export type BlockCache = LRUCache<string, Promise<Samples | undefined>>;

/**
 * With overviews a picture reads at most four times its own pixels. This limit refuses files without
 * overviews, of which a low zoom would read everything for each tile.
 */
const mostPixels = 36_000_000;
const blocksAtOnce = 4;

export function createBlockCache(mostBytes: number): BlockCache {
  return new LRUCache({ maxSize: mostBytes });
}

export async function readWindow(
  raster: RasterFile,
  request: WindowRequest,
  cache: BlockCache,
): Promise<Pixels> {
  const { level, window, memory = newMemory } = request;
  const { width, height } = window;
  if (width * height > mostPixels) {
    throw new Problem(
      "LAYER_UNREADABLE",
      "The layer has no overviews for so small a scale: zoom in, or ingest it again.",
    );
  }
  const bands = request.bands.map(() => memory(typeOf(raster.sampleType), width * height).fill(0));
  const mask = memory(Uint8Array, width * height).fill(255);
  const separate =
    (level.image.value(TiffTag.PlanarConfiguration) as number | null) ===
    (PlanarConfiguration.Separate as number);
  // As in GDAL, and in the statistics of items: beside the file's own nodata value alpha does not count.
  const alpha = raster.nodata === undefined ? raster.alphaBand : undefined;
  const wanted = alpha === undefined ? request.bands : [...request.bands, alpha];
  const targets: Samples[] = alpha === undefined ? bands : [...bands, mask];

  await forEachBlock(level, window, async (place) => {
    request.signal?.throwIfAborted();
    const planes = separate ? [...new Set(wanted)] : wanted.length > 0 ? [0] : [];
    const decoded = new Map<number, Samples | undefined>();
    for (const plane of planes) {
      decoded.set(plane, await readBlock(raster, level, place, Math.max(0, plane - 1), cache));
    }
    for (const [index, band] of wanted.entries()) {
      const block = decoded.get(separate ? band : 0);
      const target = targets[index];
      if (target === undefined) continue;
      const stride = separate ? 1 : raster.samples;
      const isAlpha = index === request.bands.length;
      copyBlock(block, { level, place, window, stride, sample: separate ? 0 : band - 1 }, target, {
        scale: isAlpha ? alphaScale(raster) : undefined,
      });
      // A block that the file leaves out has no valid pixel.
      if (block === undefined && index === 0) clear(mask, level, place, window);
    }
    if (level.mask !== undefined) {
      const bits = await readMask(raster, level, level.mask, place, cache);
      const samples = samplesOf(level.mask);
      if (samples === 1) {
        copyBlock(bits, { level, place, window, stride: 1, sample: 0 }, mask, {});
        if (bits === undefined) clear(mask, level, place, window);
      } else {
        clear(mask, level, place, window);
        for (const band of request.bands) {
          uncover(bits, { level, place, window, stride: samples, sample: band - 1 }, mask);
        }
      }
    }
  });
  // The nodata value is applied on top of the mask.
  const nodata = request.nodata ?? raster.nodata;
  maskNodata(bands, mask, nodata);
  return { width, height, bands, mask };
}

/** Reads each band with a mask of its own: a pixel may have data in one band and none in another. */
export async function readBands(
  raster: RasterFile,
  request: WindowRequest,
  cache: BlockCache,
): Promise<readonly { readonly values: Samples; readonly mask: Uint8Array }[]> {
  const read: { values: Samples; mask: Uint8Array }[] = [];
  for (const band of request.bands) {
    const { bands, mask } = await readWindow(raster, { ...request, bands: [band] }, cache);
    if (bands[0] !== undefined) read.push({ values: bands[0], mask });
  }
  return read;
}

interface Place {
  readonly column: number;
  readonly row: number;
}

async function forEachBlock(
  { blockWidth, blockHeight }: Level,
  { left, top, width, height }: Window,
  act: (place: Place) => Promise<void>,
): Promise<void> {
  const places: Place[] = [];
  const lastColumn = Math.floor((left + width - 1) / blockWidth);
  const lastRow = Math.floor((top + height - 1) / blockHeight);
  for (let row = Math.floor(top / blockHeight); row <= lastRow; row++) {
    for (let column = Math.floor(left / blockWidth); column <= lastColumn; column++) {
      places.push({ column, row });
    }
  }
  const limit = pLimit(blocksAtOnce);
  // When one block fails, the waiting ones are not read.
  await limit.map(places, act).finally(() => {
    limit.clearQueue();
  });
}

async function readBlock(
  raster: RasterFile,
  level: Level,
  place: Place,
  plane: number,
  cache: BlockCache,
): Promise<Samples | undefined> {
  const { image, blockWidth: width, blockHeight: height } = level;
  const across = Math.ceil(level.width / width);
  const down = Math.ceil(level.height / height);
  const separate = (image.value(TiffTag.PlanarConfiguration) as number | null) === 2;
  const index = (separate ? plane * across * down : 0) + place.row * across + place.column;
  const { sampleType, isLittleEndian } = raster;
  const samples = separate ? 1 : raster.samples;
  const sampleBytes = bytesOf[sampleType];
  const shape = { width, height, samples, sampleType, sampleBytes, isLittleEndian };
  const key = `${raster.key}|${image.id}|${index}`;
  const decode = async () => {
    const bytes = await readBytes(image, index);
    return bytes && decodeBlock(image, bytes, shape);
  };
  return cached(cache, key, decode, { size: width * height * samples * sampleBytes });
}

async function readMask(
  raster: RasterFile,
  level: Level,
  image: TiffImage,
  place: Place,
  cache: BlockCache,
): Promise<Samples | undefined> {
  const { blockWidth: width, blockHeight: height } = level;
  const samples = samplesOf(image);
  const index = place.row * Math.ceil(level.width / width) + place.column;
  const key = `${raster.key}|${image.id}|${index}`;
  const decode = async () => {
    const bytes = await readBytes(image, index);
    if (bytes === undefined) return undefined;
    const bits = [image.value(TiffTag.BitsPerSample) ?? 1].flat()[0];
    if (bits === 1) return decodeBits(image, bytes, width * samples, height);
    const { isLittleEndian } = raster;
    const shape = { samples, sampleType: "uint8", sampleBytes: 1 } as const;
    return decodeBlock(image, bytes, { width, height, isLittleEndian, ...shape });
  };
  return cached(cache, key, decode, { size: width * height * samples });
}

/** Of a mask: 1, or one for each band. */
function samplesOf(image: TiffImage): number {
  const isSeparate = (image.value(TiffTag.PlanarConfiguration) as number | null) === 2;
  const samples = image.value(TiffTag.SamplesPerPixel) ?? 1;
  if (!isSeparate || samples === 1) return samples;
  throw new Problem(
    "LAYER_UNREADABLE",
    "The layer's file has masks of single bands in planes of their own: ingest it again.",
  );
}

/** Undefined: the file leaves this block out. */
export async function readBytes(image: TiffImage, index: number): Promise<ArrayBuffer | undefined> {
  if (!image.isTiled()) return (await image.getStrip(index))?.bytes;
  const { offset, imageSize } = await image.getTileSize(index);
  refuseLarge(imageSize);
  if (offset === 0) return undefined;
  const isWhole = image.value(TiffTag.JpegTables) === null;
  // The library puts the tables that blocks share before a JPEG, and fails where there are none.
  if (isWhole) return image.tiff.source.fetch(offset, imageSize);
  return (await image.getBytes(offset, imageSize))?.bytes;
}

interface Copy {
  readonly level: Level;
  readonly place: Place;
  readonly window: Window;
  readonly stride: number;
  readonly sample: number;
}

function copyBlock(
  block: Samples | undefined,
  { level, place, window, stride, sample }: Copy,
  target: Samples,
  { scale }: { scale?: number | undefined },
): void {
  if (block === undefined) return;
  const { left, right, top, bottom, startX, startY } = overlap(level, place, window);
  for (let y = top; y < bottom; y++) {
    let from = ((y - startY) * level.blockWidth + (left - startX)) * stride + sample;
    let to = (y - window.top) * window.width + (left - window.left);
    if (stride === 1 && scale === undefined) {
      target.set(block.subarray(from, from + right - left), to);
      continue;
    }
    for (let x = left; x < right; x++, from += stride, to++) {
      const value = block[from] ?? 0;
      target[to] = scale === undefined ? value : value * scale;
    }
  }
}

/** Sets the mask where the block has a bit, and leaves it elsewhere. */
function uncover(
  block: Samples | undefined,
  { level, place, window, stride, sample }: Copy,
  mask: Uint8Array,
): void {
  if (block === undefined) return;
  const { left, right, top, bottom, startX, startY } = overlap(level, place, window);
  for (let y = top; y < bottom; y++) {
    let from = ((y - startY) * level.blockWidth + (left - startX)) * stride + sample;
    let to = (y - window.top) * window.width + (left - window.left);
    for (let x = left; x < right; x++, from += stride, to++) {
      if ((block[from] ?? 0) !== 0) mask[to] = 255;
    }
  }
}

function clear(mask: Uint8Array, level: Level, place: Place, window: Window): void {
  const { left, right, top, bottom } = overlap(level, place, window);
  for (let y = top; y < bottom; y++) {
    const start = (y - window.top) * window.width - window.left;
    mask.fill(0, start + left, start + right);
  }
}

function overlap(level: Level, place: Place, window: Window) {
  const startX = place.column * level.blockWidth;
  const startY = place.row * level.blockHeight;
  return {
    startX,
    startY,
    left: Math.max(startX, window.left),
    right: Math.min(startX + level.blockWidth, window.left + window.width),
    top: Math.max(startY, window.top),
    bottom: Math.min(startY + level.blockHeight, window.top + window.height),
  };
}

/** Scales an alpha of 16 bits to 8. */
function alphaScale({ sampleType }: RasterFile): number | undefined {
  return sampleType === "uint16" ? 255 / 65_535 : undefined;
}
