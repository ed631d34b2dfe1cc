/** docs/coverage.md is true in what a program can compare: states, code, tests, and notes where they matter. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const text = readFileSync(path.join(root, "docs/coverage.md"), "utf8");

const rows = text
  .split("\n")
  .map((line, index) => ({ line: index + 1, cells: line.split(/(?<!\\)\|/).slice(1, -1) }))
  .map(({ line, cells }) => ({ line, cells: cells.map((cell) => cell.trim()) }))
  .filter(({ cells: [first = ""] }) => first !== "" && !/^-+$/.test(first))
  .filter(({ cells }) => cells[0] !== "capability");
const read = rows.map(({ line, cells: [capability, state, where, test, note] }) => ({
  line,
  capability: capability!,
  state: state!,
  where: where!,
  test: test!,
  note: note!,
}));

const namedIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file);

it("gives every capability a state, with code and a test, or with a reason", () => {
  expect(rows).toHaveLength(365);
  expect(rows.filter(({ cells }) => cells.length !== 5)).toEqual([]);
  const wrong = read.filter(({ state, where, test, note }) => {
    if (state === "done") return where === "" || test === "";
    return !["different", "replaced"].includes(state) || where === "" || note === "";
  });
  expect(wrong.map(({ line, capability }) => `${line} ${capability}`)).toEqual([]);
});

it("names only files that exist, and tests that are tests", () => {
  const named = read.flatMap(({ line, where, test }) =>
    [...namedIn(where), ...namedIn(test)].map((file) => ({ line, file })),
  );
  expect(named.length).toBeGreaterThan(600);
  expect(named.filter(({ file }) => !existsSync(path.join(root, file)))).toEqual([]);
  const others = read
    .flatMap(({ line, test }) => namedIn(test).map((file) => ({ line, file })))
    .filter(({ file }) => !/\.test\.ts$|^test\//.test(file));
  expect(others).toEqual([]);
});
