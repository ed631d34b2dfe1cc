import { expect, it } from "vitest";
import { classesOf } from "./durations.ts";

it("counts durations in classes, from the first to the last that has any", () => {
  expect(classesOf([])).toEqual([]);
  expect(classesOf([0.2, 0.5, 0.99, 40])).toEqual([
    { label: "< 0.5 s", count: 1 },
    { label: "< 1 s", count: 2 },
    { label: "< 5 s", count: 0 },
    { label: "< 30 s", count: 0 },
    { label: "< 1 min", count: 1 },
  ]);
  expect(classesOf([3600])).toEqual([{ label: "longer", count: 1 }]);
});
