import { expect, it } from "vitest";
import { fidRanges } from "./sqlite-values.ts";

it("the parts of a layer follow one another, and the last has rows without a number", () => {
  expect(fidRanges('f"id', 90, 3)).toEqual([
    '"f""id" <= 30',
    '"f""id" > 30 AND "f""id" <= 60',
    '("f""id" > 60 OR "f""id" IS NULL)',
  ]);
});
