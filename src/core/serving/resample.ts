import { isFullMask } from "./full-mask.ts";
import type { ArrayType, Memory } from "./memory.ts";
import { newMemory } from "./memory.ts";
import type { PixelMap } from "./pixel-map.ts";

export type Samples =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

export const resamplingMethods = ["nearest", "bilinear"] as const;
export type Resampling = (typeof resamplingMethods)[number];

/** A part of a raster: bands of one size, and the mask of their valid pixels. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly bands: readonly Samples[];
  /** 0: no data. 255: data. In between: partly, like an alpha channel. */
  readonly mask: Uint8Array;
}

interface BandWindow extends Omit<Pixels, "bands"> {
  readonly left: number;
  readonly top: number;
  readonly band: Samples;
}

type Places = Omit<PixelMap, "reaches">;

/** `left` and `top` are the start of the window in the source pixels of the map. */
export function resample(
  window: Pixels & { readonly left: number; readonly top: number },
  map: Places,
  scale: { readonly x: number; readonly y: number },
  method: Resampling,
  memory: Memory = newMemory,
): Pixels {
  const { width, height } = map;
  const mask = memory(Uint8Array, width * height);
  const makeLike = (band: Samples) => memory(typeOf(band), width * height);
  const [only] = window.bands;
  if (only !== undefined && window.bands.length === 1 && method === "nearest") {
    const made = makeLike(only);
    pickOne({ made, mask }, { ...window, band: only }, map, scale);
    return { width, height, bands: [made], mask };
  }
  const sources = memory(Int32Array, width * height);
  findSources(sources, map, scale, window);
  pickNearest(mask, window.mask, sources);
  const bands = window.bands.map((band) => {
    const made = makeLike(band);
    if (method === "nearest") pickNearest(made, band, sources);
    else interpolate(made, { ...window, band }, map, scale, sources);
    return made;
  });
  return { width, height, bands, mask };
}

/** The nearest pixels of a single band, in one step: most layers of values have one. */
function pickOne(
  { made, mask }: { readonly made: Samples; readonly mask: Uint8Array },
  { band, mask: valid, left, top, width, height }: BandWindow,
  { columns, rows }: Places,
  { x, y }: { readonly x: number; readonly y: number },
): void {
  const isFull = isFullMask(valid);
  mask.fill(255);
  for (let index = 0; index < made.length; index++) {
    const column = (columns[index] ?? NaN) * x - left;
    const row = (rows[index] ?? NaN) * y - top;
    // Written so that NaN counts as outside. `| 0` cuts the fraction off.
    if (column >= 0 && column < width && row >= 0 && row < height) {
      const source = (row | 0) * width + (column | 0);
      made[index] = band[source] ?? 0;
      if (!isFull) mask[index] = valid[source] ?? 0;
    } else {
      made[index] = 0;
      mask[index] = 0;
    }
  }
}

/** The place in the window of each pixel; -1 outside of it. */
function findSources(
  sources: Int32Array,
  { columns, rows }: Places,
  { x, y }: { readonly x: number; readonly y: number },
  { left, top, width, height }: Pick<Pixels, "width" | "height"> & { left: number; top: number },
): void {
  for (let index = 0; index < sources.length; index++) {
    const column = (columns[index] ?? NaN) * x - left;
    const row = (rows[index] ?? NaN) * y - top;
    const isInside = column >= 0 && column < width && row >= 0 && row < height;
    sources[index] = isInside ? (row | 0) * width + (column | 0) : -1;
  }
}

function pickNearest(made: Samples, band: Samples, sources: Int32Array): void {
  for (let index = 0; index < sources.length; index++) {
    const source = sources[index] ?? -1;
    made[index] = source < 0 ? 0 : (band[source] ?? 0);
  }
}

/** Pixels without data have no weight, so that nodata never bleeds into its neighbours. */
function interpolate(
  made: Samples,
  window: BandWindow,
  map: Places,
  scale: { readonly x: number; readonly y: number },
  sources: Int32Array,
): void {
  const { band, mask, width, height } = window;
  const rounds = !(band instanceof Float32Array || band instanceof Float64Array);
  for (let index = 0; index < sources.length; index++) {
    const source = sources[index] ?? -1;
    if (source < 0 || mask[source] === 0) {
      made[index] = 0;
      continue;
    }
    const x = (map.columns[index] ?? 0) * scale.x - 0.5 - window.left;
    const y = (map.rows[index] ?? 0) * scale.y - 0.5 - window.top;
    const x0 = Math.floor(x);
    const y0 = Math.floor(y);
    let sum = 0;
    let weights = 0;
    for (let j = 0; j < 2; j++) {
      const row = y0 + j;
      if (row < 0 || row >= height) continue;
      const weightY = j === 0 ? 1 - (y - y0) : y - y0;
      for (let i = 0; i < 2; i++) {
        const column = x0 + i;
        if (column < 0 || column >= width) continue;
        const place = row * width + column;
        if (mask[place] === 0) continue;
        const weight = weightY * (i === 0 ? 1 - (x - x0) : x - x0);
        sum += weight * (band[place] ?? 0);
        weights += weight;
      }
    }
    const value = weights > 0 ? sum / weights : (band[source] ?? 0);
    made[index] = rounds ? Math.round(value) : value;
  }
}

function typeOf(samples: Samples): ArrayType<Samples> {
  return samples.constructor as unknown as ArrayType<Samples>;
}
