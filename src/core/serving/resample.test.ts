import { expect, it } from "vitest";
import type { Memory } from "./memory.ts";
import { resample } from "./resample.ts";

const window = {
  left: 0,
  top: 0,
  width: 2,
  height: 2,
  bands: [new Float32Array([0, 10, 20, 30])],
  mask: new Uint8Array([255, 255, 255, 255]),
};
const one = { x: 1, y: 1 };
const at = (...places: [number, number][]) => ({
  width: places.length,
  height: 1,
  columns: new Float64Array(places.map(([column]) => column)),
  rows: new Float64Array(places.map(([, row]) => row)),
});

it("takes the pixel that a place lies in", () => {
  const { bands, mask } = resample(
    window,
    at([0.9, 0.1], [1.1, 1.9], [2.1, 0], [NaN, 0]),
    one,
    "nearest",
  );
  expect([...bands[0]!]).toEqual([0, 30, 0, 0]);
  expect([...mask]).toEqual([255, 255, 0, 0]);
});

it("interpolates between the middles of pixels", () => {
  const { bands } = resample(window, at([1, 0.5], [1, 1], [0.5, 0.5], [0.1, 0.1]), one, "bilinear");
  expect([...bands[0]!]).toEqual([5, 15, 0, 0]);
});

it("never mixes in what does not count", () => {
  const holed = { ...window, mask: new Uint8Array([255, 0, 255, 255]) };
  const { bands, mask } = resample(holed, at([0.9, 0.5], [1.5, 0.5]), one, "bilinear");
  expect(bands[0]![0]).toBe(0);
  expect([...mask]).toEqual([255, 0]);
});

it("rounds whole numbers, and reads through a level's scale and window", () => {
  const bytes = { ...window, left: 4, top: 0, bands: [new Uint8Array([0, 3, 0, 3])] };
  const { bands } = resample(bytes, at([10, 1], [9, 1]), { x: 0.5, y: 0.5 }, "bilinear");
  expect([...bands[0]!]).toEqual([2, 0]);
});

it.each(["nearest", "bilinear"] as const)("%s writes every value of used memory", (method) => {
  const used: Memory = (type, length) => {
    const buffer = new ArrayBuffer(length * type.BYTES_PER_ELEMENT);
    new Uint8Array(buffer).fill(77);
    return new type(buffer, 0, length);
  };
  const places = at([0.9, 0.1], [1.1, 1.9], [2.1, 0], [NaN, 0]);
  for (const count of [1, 3]) {
    const given = {
      ...window,
      bands: Array.from({ length: count }, () => window.bands[0]!),
      mask: new Uint8Array([255, 0, 255, 255]),
    };
    expect(resample(given, places, one, method, used)).toEqual(
      resample(given, places, one, method),
    );
  }
});
