import { describe, expect, it } from "vitest";
import { h3Combination } from "./combination.ts";
import { columnOf } from "./combine.ts";
import { readFormula } from "./formula.ts";

const read = (values: Readonly<Record<string, number>>) => (name: string) => values[name];
const cell = read({ "flood.max": 4, "slope.mean": 10, "people.sum": 0 });

describe("a formula", () => {
  it.each([
    ["0.5 * flood.max + slope.mean ^ 2 / 4", 27],
    ["-(flood.max - 1)", -3],
    ["(flood.max > 3) * slope.mean", 10],
    ["flood.max between 1 and 3", 0],
    ["min(flood.max, slope.mean, 7) + max(1, 2) + abs(-3) + sqrt(9)", 12],
    ["coalesce(roads.length, 5)", 5],
    ["roads.length is null", 1],
    ["slope.mean > 5 and not flood.max < 1", 1],
    ["exp(ln(flood.max))", 4],
  ])("%s", (text, value) => {
    expect(readFormula(text).evaluate(cell)).toBeCloseTo(value, 12);
  });

  it.each(["roads.length + 1", "flood.max / people.sum", "ln(-1)"])("%s has no value", (text) => {
    expect(readFormula(text).evaluate(cell)).toBeUndefined();
  });

  it("names its columns, and refuses what it does not know", () => {
    expect([...readFormula("a.x + a.x * b.y").columns]).toEqual(["a.x", "b.y"]);
    for (const text of ["a.x +", "'text'", "power(a.x, 2)", "sqrt(1, 2)", "constructor(1)"]) {
      expect(() => readFormula(text), text).toThrow();
    }
  });
});

describe("a column", () => {
  const [, weighted, exposed] = h3Combination
    .parse({
      columns: [
        { name: "flooded", formula: "flood.max > 0" },
        { name: "risk", weights: { "flood.max": 3, "slope.mean": 1, "roads.length": 6 } },
        { name: "depth", mean_of: "flood.max", weighted_by: ["people.sum", "area.sum"] },
      ],
    })
    .columns.map(columnOf);

  it("with weights leaves out what the cell does not have", () => {
    expect(weighted!(cell, () => [])).toBe((3 * 4 + 10) / 4);
    expect(weighted!(read({}), () => [])).toBeUndefined();
  });

  it("is the mean over finer cells, each with the product of its weights", () => {
    const finest = [
      read({ "flood.max": 1, "people.sum": 2, "area.sum": 5 }),
      read({ "flood.max": 4, "people.sum": 10, "area.sum": 2 }),
      read({ "flood.max": 100, "people.sum": 7 }),
      read({ "people.sum": 3, "area.sum": 3 }),
    ];
    expect(exposed!(cell, () => finest)).toBe((1 * 10 + 4 * 20) / 30);
  });
});

it("a profile with two columns of one name, or a formula that cannot be read, is refused", () => {
  const columns = [{ name: "a", formula: "x.y" }];
  expect(h3Combination.safeParse({ columns: [...columns, ...columns] }).success).toBe(false);
  const wrong = h3Combination.safeParse({ columns: [{ name: "a", formula: "x.y +" }] });
  expect(JSON.stringify(wrong.error?.issues)).toContain("a value is expected");
  expect(h3Combination.safeParse({ columns: [{ name: "resolution", formula: "1" }] }).success).toBe(
    false,
  );
});
