import { expect, it } from "vitest";
import { createKeptValues } from "./kept-values.ts";

type Pixel = readonly [value: number, weight: number];

/** As exactextract computes it (weighted_quantiles.cpp), from a list of all values with their weights. */
function quantilesOf(pixels: readonly Pixel[], shares: readonly number[]): number[] {
  const weights = new Map<number, number>();
  for (const [value, weight] of pixels)
    weights.set(value + 0, (weights.get(value + 0) ?? 0) + weight);
  const elements = [...weights].sort(([a], [b]) => a - b);
  let sum = 0;
  const places = elements.map(([, weight], index) => {
    const place = index * weight + (elements.length - 1) * sum;
    sum += weight;
    return place;
  });
  return shares.map((share) => {
    const wanted = share * (elements.length - 1) * sum;
    const found = places.findIndex((place, index) => index > 0 && place >= wanted);
    const [left, next] = [elements[found - 1]![0], elements[found]![0]];
    const [from, to] = [places[found - 1]!, places[found]!];
    return left + ((wanted - from) * (next - left)) / (to - from);
  });
}

/** Numbers that repeat in every run, from 0 to 1. */
function createRandom() {
  let state = 7;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function keep(pixels: readonly Pixel[], isSingle: boolean) {
  const kept = createKeptValues(isSingle);
  const width = 700;
  for (let at = 0; at < pixels.length; at += width) {
    const line = pixels.slice(at, at + width);
    kept.add({
      values: Float64Array.from(line, ([value]) => value),
      mask: new Uint8Array(line.length).fill(255),
      offset: 0,
      shares: Float64Array.from(line, ([, weight]) => weight),
      count: line.length,
    });
  }
  return kept;
}

const random = createRandom();
const weight = () => (random() < 0.9 ? 1 : Math.ceil(random() * 8) / 8);
const metres = (): Pixel => [Math.floor(random() * 3000) - 200, weight()];
const fractions = (): Pixel => [Math.fround(random() * 1e6), weight()];
const repeat = (count: number, make: () => Pixel) => Array.from({ length: count }, make);

const cases: readonly [name: string, pixels: readonly Pixel[]][] = [
  ["few values", repeat(70_000, metres)],
  ["values that are all different", repeat(70_000, fractions)],
  ["few values, then many", [...repeat(40_000, metres), ...repeat(160_000, fractions)]],
  ["both zeros", repeat(70_000, () => [random() < 0.4 ? 0 : random() < 0.5 ? -0 : 1, weight()])],
];

it.each(cases)("keeps the quantiles of %s", (_name, pixels) => {
  const shares = [0.02, 0.5, 0.98];
  const wanted = quantilesOf(pixels, shares);
  for (const isSingle of [true, false]) {
    const kept = keep(pixels, isSingle);
    for (const [index, share] of shares.entries()) {
      expect(kept.quantile(share)).toBeCloseTo(wanted[index]!, 6);
    }
    let [total, last, isAscending] = [0, -Infinity, true];
    kept.walk((value, sum) => {
      isAscending &&= value > last;
      last = value;
      total += sum;
    });
    expect(isAscending).toBe(true);
    expect(total).toBe(pixels.reduce((sum, [, each]) => sum + each, 0));
  }
});

it("takes memory for different values only, if they repeat", () => {
  const [few, many] = [keep(repeat(70_000, metres), true), keep(repeat(70_000, fractions), true)];
  expect(few.bytes).toBeLessThan(270_000);
  expect(many.bytes).toBeGreaterThan(300_000);
});
