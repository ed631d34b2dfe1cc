/** docs/coverage.md is true in what a program can compare: states, files, and notes where they matter. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const text = readFileSync(path.join(root, "docs/coverage.md"), "utf8");

const rows = text
  .split("\n")
  .map((line, index) => ({ line: index + 1, cells: line.split(/(?<!\\)\|/).slice(1, -1) }))
  .map(({ line, cells }) => ({ line, cells: cells.map((cell) => cell.trim()) }))
  .filter(({ cells }) => cells.length === 4 && !/^-+$/.test(cells[0]!))
  .filter(({ cells }) => cells[0] !== "capability")
  .map(({ line, cells: [capability, state, where, note] }) => ({
    line,
    capability: capability!,
    state: state!,
    where: where!,
    note: note!,
  }));

it("gives every capability a state, a place if it is there, and a note if it is not whole", () => {
  expect(rows.length).toBeGreaterThan(350);
  const states = new Set(["done", "partly", "different", "replaced", "not yet"]);
  const wrong = rows.filter(({ state, where, note }) => {
    if (!states.has(state)) return true;
    if (state === "done") return where === "";
    return (state === "partly" || state === "different") && note === "";
  });
  expect(wrong.map(({ line, capability }) => `${line} ${capability}`)).toEqual([]);
});

it("names only files that exist", () => {
  const named = rows.flatMap(({ line, where }) =>
    [...where.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => ({ line, file })),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter(({ file }) => !existsSync(path.join(root, file)))).toEqual([]);
});
