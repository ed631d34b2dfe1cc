import { expect, it } from "vitest";
import { coloursOf, colourExpression, shortenHistogram } from "./hexagons.ts";

it("tells a histogram of few values as it is", () => {
  const few = Object.fromEntries(Array.from({ length: 24 }, (_, value) => [value, value / 2]));
  expect(shortenHistogram(few)).toBe(few);
});

it("tells a histogram of many values by ten intervals, and loses no share", () => {
  const heights = Array.from({ length: 1001 }, (_, index) => [-20 + index / 10, 0.5]);
  const short = shortenHistogram(Object.fromEntries(heights) as Record<string, number>);
  expect(Object.keys(short).slice(0, 2)).toEqual(["-20 to -10", "-10 to 0"]);
  expect(Object.keys(short).length).toBe(10);
  const shares = Object.values(short);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(500.5);
  // Each interval but the last ends before its upper edge.
  expect(Math.abs(short["70 to 80"]! - 50.5)).toBeLessThanOrEqual(0.5);
});

it("tells intervals apart that are narrow beside their values", () => {
  const near = Array.from({ length: 100 }, (_, index) => [1e6 + index / 1e4, 1]);
  const short = shortenHistogram(Object.fromEntries(near) as Record<string, number>);
  expect(Object.values(short).reduce((sum, share) => sum + share, 0)).toBe(100);
});

it("finds the colours of a legend in its expression", () => {
  const fill = colourExpression("mean", [0, 8], "viridis");
  const colours = coloursOf({ stat: "mean", stats: ["mean"], range: [0, 8], fill });
  expect([colours.length, colours[0], colours[8]]).toEqual([9, "rgb(68,1,84)", "rgb(253,231,37)"]);
});
