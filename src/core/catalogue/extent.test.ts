import { expect, it } from "vitest";
import { boxesOf } from "../geometry/boxes.ts";
import { bboxOfCoverage, coverageOf, widen } from "./extent.ts";
import type { Bbox } from "../geometry/geometry.ts";

const start = "2020-01-01T00:00:00Z";
const end = "2021-01-01T00:00:00Z";
const covered = (...bboxes: Bbox[]): Bbox => {
  const parts = bboxes.map((bbox) => coverageOf({ boxes: boxesOf(bbox), start, end }));
  return bboxOfCoverage(parts.slice(1).reduce(widen, parts[0]!));
};

it.each<[string, Bbox[], Bbox]>([
  ["one box", [[5, 45, 10, 50]], [5, 45, 10, 50]],
  [
    "boxes on one side",
    [
      [5, 45, 10, 50],
      [20, 40, 21, 41],
    ],
    [5, 40, 21, 50],
  ],
  ["a box over Greenwich", [[-5, 45, 10, 50]], [-5, 45, 10, 50]],
  [
    "boxes on both sides",
    [
      [-120, 0, -110, 1],
      [100, 0, 110, 2],
    ],
    [-120, 0, 110, 2],
  ],
  ["a box across the antimeridian", [[178, -20, -177, -10]], [178, -20, -177, -10]],
  [
    "one across and one near",
    [
      [178, -20, -177, -10],
      [170, -5, 171, 0],
    ],
    [170, -20, -177, 0],
  ],
  [
    "one across and one over Greenwich",
    [
      [178, 0, -177, 1],
      [-1, 0, 1, 1],
    ],
    [-180, 0, 180, 1],
  ],
  ["the world", [[-180, -90, 180, 90]], [-180, -90, 180, 90]],
])("a collection covers %s", (_name, bboxes, expected) => {
  expect(covered(...bboxes)).toEqual(expected);
});

it("covers the time from the first to the last, whatever zone they are written in", () => {
  const boxes = boxesOf([0, 0, 1, 1]);
  const one = coverageOf({ boxes, start: "2020-01-01T00:00:00+02:00", end: start });
  const { start: first, end: last } = widen(one, coverageOf({ boxes, start, end }));
  expect([first, last]).toEqual(["2020-01-01T00:00:00+02:00", end]);
});
