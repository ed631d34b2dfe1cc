import { expect, it } from "vitest";
import { diffLines } from "./diff-lines.ts";

it("keeps the lines of both texts and marks those of only one", () => {
  expect(diffLines("a\nb\nc", "a\nx\nc\nd")).toEqual([
    { text: "a" },
    { text: "b", change: "removed" },
    { text: "x", change: "added" },
    { text: "c" },
    { text: "d", change: "added" },
  ]);
});
