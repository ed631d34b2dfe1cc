import { expect, it } from "vitest";
import { diffLines } from "./diff-lines.ts";

it("keeps what both texts have and names what only one has", () => {
  expect(diffLines("a\nb\nc", "a\nx\nc\nd")).toEqual([
    { text: "a" },
    { text: "b", change: "removed" },
    { text: "x", change: "added" },
    { text: "c" },
    { text: "d", change: "added" },
  ]);
});
