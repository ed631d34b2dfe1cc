import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PixelRing } from "./cover-pixels.ts";
import { createCover, orientRing } from "./cover-pixels.ts";
import { clipArea, ringArea } from "../../../test/support/clip-area.ts";

const cover = createCover();

function sharesOf(rings: readonly PixelRing[], width: number, height: number): Float64Array {
  const all = new Float64Array(width * height);
  cover(rings, { left: 0, top: 0, width, height }, (row, column, shares, count) => {
    all.set(shares.subarray(0, count), row * width + column);
  });
  return all;
}

function expectEqual(rings: readonly PixelRing[], width: number, height: number): void {
  const found = sharesOf(rings, width, height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const wanted = rings.reduce((sum, ring) => sum - clipArea(ring, column, row), 0);
      expect(found[row * width + column]).toBeCloseTo(wanted, 11);
    }
  }
}

/** A ring around a centre with distances by angle: simple, and not convex. */
const star = (x: number, y: number, distances: readonly number[]) =>
  orientRing(
    Float64Array.from(
      distances.flatMap((distance, index) => {
        const angle = (2 * Math.PI * index) / distances.length;
        return [x + distance * Math.cos(angle), y + distance * Math.sin(angle)];
      }),
    ),
    false,
  );

function clipToWindow(ring: PixelRing, width: number, height: number): number {
  let sum = 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) sum -= clipArea(ring, column, row);
  }
  return sum;
}

describe("the share of each pixel in a polygon", () => {
  test("is what clipping every pixel gives, for any star", () => {
    const place = fc.double({ min: -3, max: 15, noNaN: true });
    const distances = fc.array(fc.double({ min: 0.01, max: 9, noNaN: true }), {
      minLength: 3,
      maxLength: 24,
    });
    fc.assert(
      fc.property(place, place, distances, (x, y, given) => {
        expectEqual([star(x, y, given)], 12, 11);
      }),
      { numRuns: 300 },
    );
  });

  test("is exact where edges and corners lie on the lines between pixels", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: 0, max: 8 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 3, maxLength: 8 }),
        (x, y, given) => {
          const ring = star(x, y, given).map((value) => Math.round(value * 2) / 2);
          if (Math.abs(ringArea(ring)) < 0.1) return;
          const total = sharesOf([orientRing(ring, false)], 20, 20);
          const sum = total.reduce((all, share) => all + share, 0);
          const wanted = clipToWindow(orientRing(ring, false), 20, 20);
          expect(sum).toBeCloseTo(wanted, 9);
          expect(Math.min(...total)).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
    const square = orientRing(Float64Array.of(2, 2, 5, 2, 5, 4, 2, 4), false);
    const shares = sharesOf([square], 8, 8);
    expect([...shares].filter((share) => share !== 0)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("is exactly one inside, far from the origin and around a hole", () => {
    const far = 43_000;
    const ring = star(far + 40.3, far + 40.7, [30.1, 22.3, 31.7, 25.9, 36.1, 27.7, 24.2]);
    const hole = orientRing(star(far + 40, far + 40, [3.3, 2.2, 4.1, 3.7]), true);
    const counts = { whole: 0, part: 0, none: 0 };
    cover(
      [ring, hole],
      { left: far, top: far, width: 90, height: 90 },
      (_row, _column, line, n) => {
        for (const share of line.subarray(0, n)) {
          if (share === 1) counts.whole += 1;
          else if (share === 0) counts.none += 1;
          else counts.part += 1;
        }
      },
    );
    expect(counts.part).toBeLessThan(300);
    expect(counts.whole).toBeGreaterThan(1500);
  });

  test("adds up to the area, in strips and cut at the window", () => {
    const ring = star(1500, 1500, [1450.5, 1250, 1350, 1050, 1499, 1499.9]);
    let total = 0;
    cover([ring], { left: 0, top: 0, width: 3000, height: 3000 }, (_row, _column, line, n) => {
      for (let index = 0; index < n; index++) total += line[index] ?? 0;
    });
    expect(total / -ringArea(ring)).toBeCloseTo(1, 11);
    let parts = 0;
    for (const left of [0, 1500]) {
      for (const top of [0, 500, 1500]) {
        const height = top === 500 ? 1000 : top === 0 ? 500 : 1500;
        cover([ring], { left, top, width: 1500, height }, (_row, _column, line, n) => {
          for (let index = 0; index < n; index++) parts += line[index] ?? 0;
        });
      }
    }
    expect(parts / total).toBeCloseTo(1, 11);
  });
});
