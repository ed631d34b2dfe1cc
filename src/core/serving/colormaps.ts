/**
 * Colour ramps by name. Each has a few stops with linear interpolation between them: within two
 * steps of 255 of the published tables, and readable.
 */
const ramps = {
  gray: "000000 ffffff",
  viridis: "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725",
  magma: "000004 180f3d 440f76 721f81 9e2f7f cd4071 f1605d fd9668 feca8d fcfdbf",
  plasma: "0d0887 46039f 7201a8 9c179e bd3786 d8576b ed7953 fb9f3a fdca26 f0f921",
  inferno: "000004 1b0c41 4a0c6b 781c6d a52c60 cf4446 ed6925 fb9b06 f7d13d fcffa4",
  cividis: "00204d 00336f 39486b 575c6d 707173 8a8779 a69d75 c4b56c e4cf5b ffea46",
  turbo:
    "30123b 4145ab 4675ed 39a2fc 1bcfd4 24eca6 61fc6c a4fc3b d1e834 f3c63a fe9b2d f36315 d93806 b11901 7a0403",
  /** Sea, lowland, hills, rock, snow; the stops are not evenly spaced. */
  terrain: "333399@0 0099ff@0.15 00cc66@0.25 ffff99@0.5 805c54@0.75 ffffff@1",
  blues: "f7fbff deebf7 c6dbef 9ecae1 6baed6 4292c6 2171b5 08519c 08306b",
  greens: "f7fcf5 e5f5e0 c7e9c0 a1d99b 74c476 41ab5d 238b45 006d2c 00441b",
  reds: "fff5f0 fee0d2 fcbba1 fc9272 fb6a4a ef3b2c cb181d a50f15 67000d",
  ylgnbu: "ffffd9 edf8b1 c7e9b4 7fcdbb 41b6c4 1d91c0 225ea8 253494 081d58",
  spectral: "9e0142 d53e4f f46d43 fdae61 fee08b ffffbf e6f598 abdda4 66c2a5 3288bd 5e4fa2",
  rdylgn: "a50026 d73027 f46d43 fdae61 fee08b ffffbf d9ef8b a6d96a 66bd63 1a9850 006837",
  rdbu: "67001f b2182b d6604d f4a582 fddbc7 f7f7f7 d1e5f0 92c5de 4393c3 2166ac 053061",
  jet: "000080@0 0000ff@0.125 00ffff@0.375 ffff00@0.625 ff0000@0.875 800000@1",
} as const;

type RampName = keyof typeof ramps;
export type ColormapName = RampName | `${RampName}_r`;

/** `_r` reverses a ramp. */
export const colormapNames = Object.keys(ramps).flatMap((name) => [
  name,
  `${name}_r`,
]) as unknown as readonly [ColormapName, ...ColormapName[]];

const made = new Map<ColormapName, Uint8Array>();

/** 256 colours as red, green, blue and alpha. */
export function namedColormap(name: ColormapName): Uint8Array {
  let table = made.get(name);
  if (table === undefined) {
    const isReversed = name.endsWith("_r");
    const ramp = ramps[(isReversed ? name.slice(0, -2) : name) as RampName];
    table = interpolate(readStops(ramp), isReversed);
    made.set(name, table);
  }
  return table;
}

interface Stop {
  readonly at: number;
  readonly rgb: readonly [number, number, number];
}

function readStops(ramp: string): Stop[] {
  const parts = ramp.split(" ");
  return parts.map((part, index) => {
    const [hex = "", at] = part.split("@");
    const value = Number.parseInt(hex, 16);
    return {
      at: at === undefined ? index / (parts.length - 1) : Number(at),
      rgb: [value >> 16, (value >> 8) & 255, value & 255],
    };
  });
}

function interpolate(stops: readonly Stop[], isReversed: boolean): Uint8Array {
  const table = new Uint8Array(256 * 4);
  for (let index = 0; index < 256; index++) {
    const at = index / 255;
    const next = Math.max(
      1,
      stops.findIndex((stop) => stop.at >= at),
    );
    const [from, to] = [stops[next - 1], stops[next]];
    if (from === undefined || to === undefined) throw new Error("a ramp needs two stops");
    const share = (at - from.at) / (to.at - from.at);
    const place = 4 * (isReversed ? 255 - index : index);
    for (const part of [0, 1, 2] as const) {
      table[place + part] = Math.round(from.rgb[part] + share * (to.rgb[part] - from.rgb[part]));
    }
    table[place + 3] = 255;
  }
  return table;
}
