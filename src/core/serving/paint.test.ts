import { describe, expect, it } from "vitest";
import { colormapNames, namedColormap } from "./colormaps.ts";
import { layOver, paint } from "./paint.ts";
import type { Picture } from "./paint.ts";

const pixels = (band: Uint8Array | Float32Array, mask = new Uint8Array(band.length).fill(255)) => ({
  width: band.length,
  height: 1,
  bands: [band],
  mask,
});
const colours = (rgba: Uint8Array) =>
  Array.from({ length: rgba.length / 4 }, (_, index) => [
    ...rgba.subarray(4 * index, 4 * index + 4),
  ]);

describe("paint", () => {
  it("shows bytes as they are, in gray", () => {
    const { rgba, isOpaque } = paint(pixels(new Uint8Array([0, 128, 255])), {});
    expect(colours(rgba)).toEqual([
      [0, 0, 0, 255],
      [128, 128, 128, 255],
      [255, 255, 255, 255],
    ]);
    expect(isOpaque).toBe(true);
  });

  it("stretches a range and clamps what lies beyond it", () => {
    const { rgba } = paint(pixels(new Float32Array([-5, 100, 150, 200, 900])), {
      rescale: [[100, 200]],
    });
    expect(colours(rgba).map(([gray]) => gray)).toEqual([0, 0, 128, 255, 255]);
  });

  it("leaves out what does not count, and follows an alpha channel between", () => {
    const { rgba, isOpaque } = paint(
      pixels(new Uint8Array([9, 9, 9]), new Uint8Array([0, 255, 51])),
      {},
    );
    expect(colours(rgba)).toEqual([
      [0, 0, 0, 0],
      [9, 9, 9, 255],
      [9, 9, 9, 51],
    ]);
    expect(isOpaque).toBe(false);
  });

  it("colours by value and by interval; what has no colour is transparent", () => {
    const byValue = paint(pixels(new Uint8Array([1, 2])), { colormap: { "1": [255, 0, 0] } });
    expect(colours(byValue.rgba)).toEqual([
      [255, 0, 0, 255],
      [0, 0, 0, 0],
    ]);
    expect(byValue.isOpaque).toBe(false);
    const byInterval = paint(pixels(new Float32Array([0.5, 7, 10])), {
      colormap: [
        [
          [0, 1],
          [1, 2, 3],
        ],
        [
          [5, 10],
          [4, 5, 6, 128],
        ],
      ],
    });
    expect(colours(byInterval.rgba)).toEqual([
      [1, 2, 3, 255],
      [4, 5, 6, 128],
      [0, 0, 0, 0],
    ]);
  });

  it("takes three bands as red, green and blue, each with its own range", () => {
    const { rgba } = paint(
      {
        width: 1,
        height: 1,
        bands: [new Float32Array([5]), new Float32Array([50]), new Float32Array([500])],
        mask: new Uint8Array([255]),
      },
      {
        rescale: [
          [0, 10],
          [0, 100],
          [0, 1000],
        ],
      },
    );
    expect(colours(rgba)).toEqual([[128, 128, 128, 255]]);
  });
});

describe("colour ramps", () => {
  it.each(colormapNames)("%s has 256 opaque colours", (name) => {
    const table = namedColormap(name);
    expect(table.length).toBe(1024);
    expect(colours(table).every(([, , , alpha]) => alpha === 255)).toBe(true);
  });

  it("start and end where their publishers say, and turn round", () => {
    expect([...namedColormap("viridis").subarray(0, 3)]).toEqual([0x44, 0x01, 0x54]);
    expect([...namedColormap("viridis").subarray(1020, 1023)]).toEqual([0xfd, 0xe7, 0x25]);
    expect([...namedColormap("viridis_r").subarray(0, 3)]).toEqual([0xfd, 0xe7, 0x25]);
  });
});

function row(...pixels: [number, number, number, number][]): Picture {
  const isOpaque = pixels.every(([, , , alpha]) => alpha === 255);
  return { width: pixels.length, height: 1, rgba: Uint8Array.from(pixels.flat()), isOpaque };
}

describe("layOver", () => {
  it("shows what lies below where nothing is, and a mixture where half is", () => {
    const top = row([9, 9, 9, 255], [0, 0, 0, 0], [200, 0, 0, 128], [0, 0, 0, 0]);
    const below = row([1, 1, 1, 255], [2, 3, 4, 255], [0, 0, 100, 255], [7, 7, 7, 0]);
    const laid = layOver(top, below)!;
    expect([...laid.rgba]).toEqual([9, 9, 9, 255, 2, 3, 4, 255, 100, 0, 50, 255, 0, 0, 0, 0]);
    expect(laid.isOpaque).toBe(false);
    // The pictures themselves are kept elsewhere and stay as they are.
    expect(top.rgba[4]).toBe(0);
  });

  it("needs no second picture where the first is whole, nor any where there is none", () => {
    const whole = row([1, 2, 3, 255]);
    expect(layOver(whole, row([9, 9, 9, 255]))).toBe(whole);
    expect(layOver(undefined, whole)).toBe(whole);
    expect(layOver(undefined, undefined)).toBeUndefined();
  });
});
