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

/** `left` and `top` are the start of the window in the source pixels of the map. */
export function resample(
  window: Pixels & { readonly left: number; readonly top: number },
  map: PixelMap,
  scale: { readonly x: number; readonly y: number },
  method: Resampling,
): Pixels {
  const { width, height } = map;
  const count = width * height;
  const sources = new Int32Array(count);
  const mask = new Uint8Array(count);
  const { left, top, width: across, height: down, mask: valid } = window;
  const { columns, rows } = map;
  for (let index = 0; index < count; index++) {
    const column = (columns[index] ?? NaN) * scale.x - left;
    const row = (rows[index] ?? NaN) * scale.y - top;
    // Written so that NaN counts as outside.
    if (column >= 0 && column < across && row >= 0 && row < down) {
      const source = Math.trunc(row) * across + Math.trunc(column);
      sources[index] = source;
      mask[index] = valid[source] ?? 0;
    } else sources[index] = -1;
  }
  const bands = window.bands.map((band) =>
    method === "nearest"
      ? pickNearest(band, sources)
      : interpolate({ ...window, band }, map, scale, sources),
  );
  return { width, height, bands, mask };
}

function pickNearest(band: Samples, sources: Int32Array): Samples {
  const picked = empty(band, sources.length);
  for (let index = 0; index < sources.length; index++) {
    const source = sources[index] ?? -1;
    if (source >= 0) picked[index] = band[source] ?? 0;
  }
  return picked;
}

/** Pixels without data have no weight, so that nodata never bleeds into its neighbours. */
function interpolate(
  window: Omit<Pixels, "bands"> & {
    readonly left: number;
    readonly top: number;
    readonly band: Samples;
  },
  map: PixelMap,
  scale: { readonly x: number; readonly y: number },
  sources: Int32Array,
): Samples {
  const { band, mask, width, height } = window;
  const made = empty(band, sources.length);
  const rounds = !(band instanceof Float32Array || band instanceof Float64Array);
  for (let index = 0; index < sources.length; index++) {
    const source = sources[index] ?? -1;
    if (source < 0 || mask[source] === 0) continue;
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
  return made;
}

function empty(like: Samples, length: number): Samples {
  return new (like.constructor as new (length: number) => Samples)(length);
}
