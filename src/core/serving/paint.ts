import type { Colormap } from "./style.ts";
import { namedColormap } from "./colormaps.ts";
import { isFullMask } from "./full-mask.ts";
import type { Memory } from "./memory.ts";
import { newMemory } from "./memory.ts";
import type { RenderOptions } from "./render-options.ts";
import type { Pixels, Samples } from "./resample.ts";

/** A picture with red, green, blue and alpha of every pixel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
  /** No pixel is even partly transparent. */
  readonly isOpaque: boolean;
  /** Where each pixel has one of 256 colours, by a colormap and without holes: which, and all of them. */
  readonly palette?: {
    readonly indices: Uint8Array;
    readonly colours: Uint8Array;
    /** The colours follow the values, so that neighbours have near numbers. */
    readonly isRamp: boolean;
  };
}

/** Turns values into colours: one band by a colormap or as gray, three as red, green and blue. */
export function paint(
  pixels: Pixels,
  options: Partial<Pick<RenderOptions, "rescale" | "colormap" | "colormap_name">> & {
    /** The palette of the file: a colour for every value. */
    readonly palette?: Uint8Array;
  },
  memory: Memory = newMemory,
): Picture {
  const { width, height, bands, mask } = pixels;
  const rgba = memory(Uint8Array, width * height * 4).fill(0);
  const [first, second, third] = bands;
  if (first === undefined) throw new Error("a picture needs a band");
  if (second !== undefined && third !== undefined) {
    paintChannel(rgba, 0, first, options.rescale?.[0]);
    paintChannel(rgba, 1, second, options.rescale?.[1] ?? options.rescale?.[0]);
    paintChannel(rgba, 2, third, options.rescale?.[2] ?? options.rescale?.[0]);
  } else if (options.palette !== undefined) {
    paintByValue(rgba, first, options.palette);
  } else if (options.colormap !== undefined && Array.isArray(options.colormap)) {
    paintIntervals(rgba, first, options.colormap);
  } else {
    const table =
      options.colormap === undefined
        ? namedColormap(options.colormap_name ?? "gray")
        : tableOf(options.colormap);
    const indices = memory(Uint8Array, width * height);
    paintByTable(rgba, indices, first, table, options.rescale?.[0]);
    const isOpaque = applyMask(rgba, mask, options.colormap === undefined);
    const isRamp = options.colormap === undefined;
    const palette = isOpaque ? { palette: { indices, colours: table, isRamp } } : {};
    return { width, height, rgba, isOpaque, ...palette };
  }
  return { width, height, rgba, isOpaque: applyMask(rgba, mask, options.colormap === undefined) };
}

type Range = readonly [number, number];

function paintChannel(rgba: Uint8Array, channel: number, band: Samples, range?: Range): void {
  const [low, high] = range ?? [0, 255];
  const width = high - low;
  for (let index = 0, place = channel; index < band.length; index++, place += 4) {
    rgba[place] = toByte((((band[index] ?? 0) - low) * 255) / width);
    if (channel === 0) rgba[place + 3] = 255;
  }
}

function paintByTable(
  rgba: Uint8Array,
  indices: Uint8Array,
  band: Samples,
  table: Uint8Array,
  range?: Range,
): void {
  const [low, high] = range ?? [0, 255];
  const width = high - low;
  // One write for the four bytes of a colour.
  const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, band.length);
  const colours = new Uint32Array(Uint8Array.from(table).buffer);
  for (let index = 0; index < band.length; index++) {
    const entry = toByte((((band[index] ?? 0) - low) * 255) / width);
    indices[index] = entry;
    pixels[index] = colours[entry] ?? 0;
  }
}

function paintByValue(rgba: Uint8Array, band: Samples, palette: Uint8Array): void {
  for (let index = 0; index < band.length; index++) {
    const entry = 4 * (band[index] ?? 0);
    rgba.set(palette.subarray(entry, entry + 4), 4 * index);
  }
}

/** Values without a colour are transparent. */
function tableOf(colours: Exclude<Colormap, readonly unknown[]>): Uint8Array {
  const table = new Uint8Array(256 * 4);
  for (const [value, colour] of Object.entries(colours)) {
    const index = Number(value);
    if (Number.isInteger(index) && index >= 0 && index < 256) {
      table.set([colour[0], colour[1], colour[2], colour[3] ?? 255], 4 * index);
    }
  }
  return table;
}

function paintIntervals(
  rgba: Uint8Array,
  band: Samples,
  intervals: Extract<Colormap, readonly unknown[]>,
): void {
  for (let index = 0; index < band.length; index++) {
    const value = band[index] ?? Number.NaN;
    const found = intervals.find(([[low, high]]) => value >= low && value < high)?.[1];
    if (found !== undefined) {
      rgba.set([found[0], found[1], found[2], found[3] ?? 255], 4 * index);
    }
  }
}

/** Clamps and rounds. NaN gives 0. */
function toByte(value: number): number {
  return value >= 255 ? 255 : value > 0 ? Math.floor(value + 0.5) : 0;
}

function applyMask(rgba: Uint8Array, mask: Uint8Array, isSolid: boolean): boolean {
  if (isSolid && isFullMask(mask)) return true;
  let isOpaque = true;
  for (let index = 0, place = 3; index < mask.length; index++, place += 4) {
    const seen = mask[index] ?? 0;
    if (seen === 255 && isSolid) continue;
    if (seen === 0) {
      rgba[place - 3] = 0;
      rgba[place - 2] = 0;
      rgba[place - 1] = 0;
      rgba[place] = 0;
    } else if (seen < 255) rgba[place] = Math.round(((rgba[place] ?? 0) * seen) / 255);
    if (rgba[place] !== 255) isOpaque = false;
  }
  return isOpaque;
}

/** Lays one picture over another of the same size; undefined if there is neither. */
export function layOver(top: Picture | undefined, below: Picture | undefined): Picture | undefined {
  if (top === undefined || below === undefined || top.isOpaque) return top ?? below;
  const rgba = top.rgba.slice();
  let isOpaque = true;
  for (let place = 0; place < rgba.length; place += 4) {
    const alpha = (rgba[place + 3] ?? 0) / 255;
    if (alpha === 1) continue;
    const under = ((1 - alpha) * (below.rgba[place + 3] ?? 0)) / 255;
    const whole = alpha + under;
    for (let channel = 0; channel < 3 && whole > 0; channel++) {
      const mixed =
        alpha * (rgba[place + channel] ?? 0) + under * (below.rgba[place + channel] ?? 0);
      rgba[place + channel] = Math.round(mixed / whole);
    }
    rgba[place + 3] = Math.round(whole * 255);
    isOpaque &&= rgba[place + 3] === 255;
  }
  return { width: top.width, height: top.height, rgba, isOpaque };
}
