import { expect, it } from "vitest";
import { createProgressReader } from "./run-process.ts";

function read(...pieces: string[]): number[] {
  const reported: number[] = [];
  const take = createProgressReader((percent) => reported.push(percent));
  for (const piece of pieces) take(piece);
  return reported;
}

it("reads the bar in steps of two and a half", () => {
  expect(read("0...10...20")).toEqual([0, 2.5, 5, 7.5, 10, 12.5, 15, 17.5]);
  expect(read("0...10...20...30...40...50...60...70...80...90...100 - done.\n").at(-1)).toBe(100);
});

it("reads it however it is cut", () => {
  const bar = "0...10...20...30...40...50...60...70...80...90...100 - done.\n";
  expect(read(...Array.from(bar))).toEqual(read(bar));
});

it("is not misled by what else is printed, and begins again with the next bar", () => {
  expect(read("Input file size is 1500, 1500\n")).toEqual([]);
  expect(read("0...10", "...20\n", "0...10.")).toEqual([
    ...[0, 2.5, 5, 7.5, 10, 12.5, 15, 17.5],
    ...[0, 2.5, 5, 7.5, 10, 12.5],
  ]);
});
