import fc from "fast-check";
import { expect, it } from "vitest";
import { createTally } from "./tally.ts";

/** In two passes, which no cancellation harms. */
function deviationOf(values: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const over = (of: (value: number) => number) =>
    values.reduce((sum, value, index) => sum + (weights[index] ?? 0) * of(value), 0) / total;
  const mean = over((value) => value);
  return Math.sqrt(over((value) => (value - mean) ** 2));
}

function tallyLines(values: readonly number[], weights: readonly number[], width: number) {
  const tally = createTally(["stdev"]);
  for (let at = 0; at < values.length; at += width) {
    const shares = Float64Array.from(weights.slice(at, at + width));
    tally.add({
      values: Float64Array.from(values),
      mask: new Uint8Array(values.length).fill(255),
      offset: at,
      shares,
      count: shares.length,
    });
  }
  return tally.result();
}

it("keeps the deviation of small differences on large values, however they are cut into lines", () => {
  const pixel = fc.record({
    value: fc.double({ min: -1, max: 1, noNaN: true }),
    weight: fc.constantFrom(1, 1, 1, 0.5, 0.125),
  });
  fc.assert(
    fc.property(
      fc.array(pixel, { minLength: 2, maxLength: 60 }),
      fc.constantFrom(0, 1e3, -1e9),
      fc.integer({ min: 1, max: 20 }),
      (pixels, offset, width) => {
        const values = pixels.map(({ value }) => offset + value);
        const weights = pixels.map(({ weight }) => weight);
        const wanted = deviationOf(values, weights);
        const found = tallyLines(values, weights, width).stdev ?? NaN;
        expect(Math.abs(found - wanted)).toBeLessThan(1e-7 * wanted + 1e-6);
      },
    ),
  );
});

it("keeps the deviation after a first value that is far from all others", () => {
  const values = [1e9, ...Array.from({ length: 99 }, (_, index) => index % 2)];
  const weights = values.map(() => 1);
  const wanted = deviationOf(values, weights);
  expect(tallyLines(values, weights, 10).stdev).toBeCloseTo(wanted, 4);
  expect(tallyLines(values.slice(1), weights.slice(1), 7).stdev).toBeCloseTo(
    deviationOf(values.slice(1), weights.slice(1)),
    12,
  );
});

it("adds whole numbers without rounding", () => {
  const values = Array.from({ length: 1000 }, (_, index) => 3 * index + 1);
  expect(
    tallyLines(
      values,
      values.map(() => 1),
      13,
    ).sum,
  ).toBe(values.reduce((sum, value) => sum + value, 0));
});
