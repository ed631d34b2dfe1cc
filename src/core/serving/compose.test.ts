import { expect, it } from "vitest";
import { layOver } from "./compose.ts";
import type { Picture } from "./paint.ts";

function row(...pixels: [number, number, number, number][]): Picture {
  const isOpaque = pixels.every(([, , , alpha]) => alpha === 255);
  return { width: pixels.length, height: 1, rgba: Uint8Array.from(pixels.flat()), isOpaque };
}

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
