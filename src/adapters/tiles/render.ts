/** Makes a picture of an opened raster: chooses the part, the level, the pixels and the colours. */
import { Problem } from "../../core/errors.ts";
import { chooseLevel, measureReduction } from "../../core/serving/choose-level.ts";
import { coveredParts } from "../../core/serving/coverage.ts";
import type { Memory } from "../../core/serving/memory.ts";
import type { Picture } from "../../core/serving/paint.ts";
import { paint } from "../../core/serving/paint.ts";
import type { PixelMap } from "../../core/serving/pixel-map.ts";
import { mapPixels } from "../../core/serving/pixel-map.ts";
import type { RenderOptions } from "../../core/serving/render-options.ts";
import type { Pixels } from "../../core/serving/resample.ts";
import { resample } from "../../core/serving/resample.ts";
import { spread } from "../../core/serving/statistics.ts";
import type { Box } from "../../core/serving/web-mercator.ts";
import { toDegrees } from "../../core/serving/web-mercator.ts";
import type { PromiseCache } from "../runtime/cached.ts";
import { cached } from "../runtime/cached.ts";
import type { RasterFile } from "./raster-file.ts";
import type { BlockCache, Window } from "./read-window.ts";
import { readWindow } from "./read-window.ts";

export type SpreadCache = PromiseCache<readonly ([number, number] | undefined)[]>;

export interface RenderContext {
  readonly blocks: BlockCache;
  /** The range of the values of each band, by raster, bands and nodata value. */
  readonly spreads: SpreadCache;
  readonly signal: AbortSignal;
  /** Where the picture is computed; new arrays without it. */
  readonly memory?: Memory | undefined;
}

/** Renders a box of web mercator. Undefined: the raster does not reach into it. */
export async function renderBox(
  raster: RasterFile,
  box: Box,
  size: { readonly width: number; readonly height: number },
  options: RenderOptions,
  context: RenderContext,
): Promise<Picture | undefined> {
  const parts = coveredParts(box, raster.extent);
  if (parts.length === 0) return undefined;
  const map = mapPixels({
    ...size,
    box,
    parts,
    toPixels: raster.toPixels,
    project: raster.isWebMercator
      ? (x, y) => [x, y]
      : (x, y) => raster.fromDegrees(...toDegrees(x, y)),
    memory: context.memory,
  });
  const pixels = await readMapped(raster, map, options, context);
  return pixels && colour(raster, pixels, options, context);
}

/** The whole raster in its own projection, at most `mostSide` pixels a side. */
export async function renderWhole(
  raster: RasterFile,
  mostSide: number,
  options: RenderOptions,
  context: RenderContext,
): Promise<Picture> {
  const pixels = await readWhole(raster, mostSide, options, context);
  return colour(raster, pixels, options, context);
}

export async function readWhole(
  raster: RasterFile,
  mostSide: number,
  options: Pick<RenderOptions, "bands" | "nodata" | "resampling">,
  context: Pick<RenderContext, "blocks" | "signal">,
): Promise<Pixels> {
  const [full] = raster.levels;
  const reduction = Math.max(1, Math.max(full.width, full.height) / mostSide);
  const width = Math.max(1, Math.round(full.width / reduction));
  const height = Math.max(1, Math.round(full.height / reduction));
  const map = stretch(width, height, full);
  const pixels = await readMapped(raster, map, options, context);
  if (pixels === undefined) throw new Error("a whole raster has pixels");
  return pixels;
}

function stretch(
  width: number,
  height: number,
  full: { readonly width: number; readonly height: number },
): PixelMap {
  return mapPixels({
    box: [0, -height, width, 0],
    width,
    height,
    parts: [{ box: [0, -height, width, 0], shift: 0 }],
    project: (x, y) => [x, -y],
    toPixels: [full.width / width, 0, 0, 0, full.height / height, 0],
  });
}

async function readMapped(
  raster: RasterFile,
  map: PixelMap,
  options: Pick<RenderOptions, "bands" | "nodata" | "resampling">,
  context: Pick<RenderContext, "blocks" | "signal" | "memory">,
): Promise<Pixels | undefined> {
  const reduction = measureReduction(map);
  const [full] = raster.levels;
  const level = raster.levels[chooseLevel(raster.levels, reduction ?? 1)] ?? full;
  const scale = { x: level.width / full.width, y: level.height / full.height };
  const window = findWindow(map, scale, level);
  if (window === undefined) return undefined;
  const { blocks, signal, memory } = context;
  const bands = shownBands(raster, options.bands);
  const pixels = await readWindow(
    raster,
    { level, window, bands, nodata: options.nodata, signal, memory },
    blocks,
  );
  signal.throwIfAborted();
  return resample({ ...pixels, ...window }, map, scale, options.resampling, memory);
}

/** The pixels of the level that the map may need, and one pixel around them for interpolation. */
function findWindow(
  { reaches }: PixelMap,
  { x, y }: { readonly x: number; readonly y: number },
  { width, height }: { readonly width: number; readonly height: number },
): Window | undefined {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index < reaches.length; index += 4) {
    const west = reaches[index] ?? NaN;
    const north = reaches[index + 1] ?? NaN;
    const east = reaches[index + 2] ?? NaN;
    const south = reaches[index + 3] ?? NaN;
    const isInside = east >= 0 && west * x < width && south >= 0 && north * y < height;
    if (!isInside) continue;
    left = Math.min(left, west * x);
    top = Math.min(top, north * y);
    right = Math.max(right, east * x);
    bottom = Math.max(bottom, south * y);
  }
  if (left > right) return undefined;
  left = Math.max(0, Math.floor(left) - 1);
  top = Math.max(0, Math.floor(top) - 1);
  right = Math.min(width, Math.floor(right) + 2);
  bottom = Math.min(height, Math.floor(bottom) + 2);
  return { left, top, width: right - left, height: bottom - top };
}

export function shownBands(
  raster: RasterFile,
  asked: readonly number[] | undefined,
): readonly number[] {
  const bands = asked ?? (raster.isColour ? [1, 2, 3] : [1]);
  const missing = bands.find((band) => band > raster.samples);
  if (missing !== undefined) {
    throw new Problem(
      "BAD_REQUEST",
      `The layer has no band ${missing}: it has ${raster.bandCount}.`,
    );
  }
  return bands.length === 2 ? bands.slice(0, 1) : bands.slice(0, 3);
}

async function colour(
  raster: RasterFile,
  pixels: Pixels,
  options: RenderOptions,
  context: RenderContext,
): Promise<Picture> {
  const { memory } = context;
  if (hasOwnColours(raster, options)) return paint(pixels, { palette: raster.palette }, memory);
  const rescale = (await findRange(raster, options, context)) ?? options.rescale;
  return paint(pixels, { ...options, rescale }, memory);
}

function hasOwnColours(
  raster: RasterFile,
  { colormap, colormap_name, rescale }: RenderOptions,
): raster is RasterFile & { readonly palette: Uint8Array } {
  const isPlain = colormap === undefined && colormap_name === undefined && rescale === undefined;
  return raster.palette !== undefined && isPlain;
}

/**
 * Finds the range of values that is shown from black to white, where the request names none: without
 * it, values beyond 0 to 255 would all be black or white. Undefined where no range is needed.
 */
export async function findRange(
  raster: RasterFile,
  options: RenderOptions,
  context: Pick<RenderContext, "blocks" | "spreads">,
): Promise<[number, number][] | undefined> {
  const isGiven = options.rescale !== undefined || options.colormap !== undefined;
  if (isGiven || raster.sampleType === "uint8" || hasOwnColours(raster, options)) return undefined;
  const bands = shownBands(raster, options.bands);
  const key = `${raster.key}|${String(bands)}|${String(options.nodata)}`;
  const { nodata } = options;
  const wanted = { bands, nodata, resampling: "nearest" } as const;
  const { blocks, spreads } = context;
  const found = await cached(spreads, key, async () => {
    // Not aborted with this request, nor in its memory: other requests may wait for the same range.
    const { signal } = new AbortController();
    return spread(await readWhole(raster, 512, wanted, { blocks, signal }));
  });
  return found.map((range) => range ?? [0, 1]);
}
