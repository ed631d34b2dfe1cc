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

it("knows nothing of the polygon before once it is cleared, however many pixels that had", () => {
  const line = (count: number, value: (index: number) => number, weight: number) => ({
    values: Float64Array.from({ length: count }, (_, index) => value(index)),
    mask: new Uint8Array(count).fill(255),
    offset: 0,
    shares: new Float64Array(count).fill(weight),
    count,
  });
  const statistics = ["count", "sum", "median", "stdev", "min", "max", "majority"] as const;
  const used = createTally([...statistics, "histogram"]);
  // Listed, counted by value, and with parts of pixels: each leaves other memory behind.
  for (const before of [
    line(40, (index) => index / 7, 1),
    line(100_000, (index) => index % 50, 1),
    line(3000, (index) => -index, 0.25),
  ]) {
    used.add(before);
    used.result();
    used.clear();
    const fresh = createTally([...statistics, "histogram"]);
    for (const tally of [used, fresh]) {
      tally.add(line(9, (index) => 5 + (index % 4), 1));
      tally.add(line(3, (index) => 6 - index, 0.5));
    }
    expect(used.result()).toEqual(fresh.result());
    expect(used.pixels).toEqual(fresh.pixels);
    used.clear();
  }
});
