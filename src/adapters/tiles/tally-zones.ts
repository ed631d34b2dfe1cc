/**
 * Reads the pixels under many polygons, part by part of the raster, and adds them to the tallies.
 * Each part is read once for all polygons that touch it, so no block is decoded twice, and memory
 * does not grow with the raster.
 */
import type { PixelRing, PixelWindow } from "../../core/zonal/cover-pixels.ts";
import { clipWindow, createCover } from "../../core/zonal/cover-pixels.ts";
import type { Tally } from "../../core/zonal/tally.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { Level, RasterFile } from "./raster-file.ts";
import type { BlockCache } from "./read-window.ts";
import { readBands } from "./read-window.ts";

export interface Zone {
  readonly rings: readonly PixelRing[];
  /** One for each band of the request; made with the zone's first pixels. */
  tallies(): readonly Tally[];
  /** Called with the last pixel: the tallies may be dropped. */
  finish?(): void;
}

export interface ZonesRequest {
  /** From 1. */
  readonly bands: readonly number[];
  readonly nodata?: number | undefined;
  readonly signal: AbortSignal;
  readonly blocks: BlockCache;
  /** Called after each part, with the share that is done. */
  readonly onPart?: ((done: number) => void) | undefined;
}

/** What tallies keep of values at one time; a list takes twice as much while it grows, and a task has 512 MB. */
const mostKeptBytes = 160 * 1024 * 1024;

/** The side of a part, about; its pixels are in memory with their mask. */
const side = 1536;

export async function tallyZones(
  raster: RasterFile,
  zones: readonly Zone[],
  { bands, nodata, signal, blocks, onPart }: ZonesRequest,
): Promise<void> {
  const [level] = raster.levels;
  const cover = createCover();
  const parts = partition(level, zones);
  const left = new Map<Zone, number>();
  for (const { touched } of parts) {
    for (const zone of touched) left.set(zone, (left.get(zone) ?? 0) + 1);
  }
  const open = new Set<Zone>();
  for (const [index, { window, touched }] of parts.entries()) {
    signal.throwIfAborted();
    const read = await readBands(raster, { level, window, bands, nodata, signal }, blocks);
    for (const zone of touched) {
      const tallies = zone.tallies();
      cover(zone.rings, window, (row, column, shares, count) => {
        const offset = (row - window.top) * window.width + column - window.left;
        for (let band = 0; band < tallies.length; band++) {
          const found = read[band];
          if (found === undefined) continue;
          const { values, mask } = found;
          tallies[band]?.add({ values, mask, offset, shares, count });
        }
      });
      open.add(zone);
      const remaining = (left.get(zone) ?? 1) - 1;
      left.set(zone, remaining);
      if (remaining === 0) {
        open.delete(zone);
        zone.finish?.();
      }
    }
    refuseTooMany(open);
    onPart?.((index + 1) / parts.length);
  }
}

class TooManyPixels extends KnownError {
  constructor(message: string) {
    super("TOO_MANY_PIXELS", "permanent", message);
  }
}

function refuseTooMany(open: ReadonlySet<Zone>): void {
  let kept = 0;
  for (const zone of open) for (const tally of zone.tallies()) kept += tally.keptBytes;
  if (kept <= mostKeptBytes) return;
  throw new TooManyPixels(
    `Medians and histograms of these areas need more than ${mostKeptBytes / 1024 / 1024} MB for the values of their pixels: leave them out, or take smaller areas.`,
  );
}

interface Part {
  readonly window: PixelWindow;
  readonly touched: readonly Zone[];
}

/** Parts of the raster along its blocks, from top to bottom, each no larger than what is needed. */
function partition(level: Level, zones: readonly Zone[]): readonly Part[] {
  const { width, height } = sizeOfPart(level);
  const whole = { left: 0, top: 0, width: level.width, height: level.height };
  const across = Math.ceil(level.width / width);
  const found = new Map<number, { box: PixelWindow; touched: Zone[] }>();
  for (const zone of zones) {
    const box = clipWindow(zone.rings, whole);
    if (box === undefined) continue;
    for (let row = Math.floor(box.top / height); row * height < box.top + box.height; row++) {
      for (
        let column = Math.floor(box.left / width);
        column * width < box.left + box.width;
        column++
      ) {
        const cell = { left: column * width, top: row * height, width, height };
        const inside = intersect(box, cell);
        const key = row * across + column;
        const before = found.get(key);
        if (before === undefined) found.set(key, { box: inside, touched: [zone] });
        else {
          before.box = unite(before.box, inside);
          before.touched.push(zone);
        }
      }
    }
  }
  return [...found]
    .toSorted(([a], [b]) => a - b)
    .map(([, { box, touched }]) => ({ window: box, touched }));
}

/** Whole blocks; strips that are wider than a part are read over their whole width. */
function sizeOfPart({ blockWidth, blockHeight }: Level): { width: number; height: number } {
  const fit = (block: number, most: number) => block * Math.max(1, Math.floor(most / block));
  const width = fit(blockWidth, side);
  return { width, height: fit(blockHeight, Math.max(1, Math.floor((side * side) / width))) };
}

function intersect(a: PixelWindow, b: PixelWindow): PixelWindow {
  const left = Math.max(a.left, b.left);
  const top = Math.max(a.top, b.top);
  const right = Math.min(a.left + a.width, b.left + b.width);
  const bottom = Math.min(a.top + a.height, b.top + b.height);
  return { left, top, width: right - left, height: bottom - top };
}

function unite(a: PixelWindow, b: PixelWindow): PixelWindow {
  const left = Math.min(a.left, b.left);
  const top = Math.min(a.top, b.top);
  const right = Math.max(a.left + a.width, b.left + b.width);
  const bottom = Math.max(a.top + a.height, b.top + b.height);
  return { left, top, width: right - left, height: bottom - top };
}
