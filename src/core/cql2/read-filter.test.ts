import { describe, expect, it } from "vitest";
import type { Json } from "../model/json.ts";
import { filterFromQuery, filterFromJson, filterFromText } from "./read-filter.ts";
import { parseText } from "./parse-text.ts";
import { separateSpatial } from "./spatial.ts";

const cloud = { property: "eo:cloud_cover" };

describe("a filter as text is the same as JSON", () => {
  it.each<[string, Json]>([
    ["eo:cloud_cover < 10", { op: "<", args: [cloud, 10] }],
    ["eo:cloud_cover<-1.5e3", { op: "<", args: [cloud, -1500] }],
    [`"odd name" = 'it''s'`, { op: "=", args: [{ property: "odd name" }, "it's"] }],
    [
      "a = 1 OR b = 2 AND NOT c = 3",
      {
        op: "or",
        args: [
          { op: "=", args: [{ property: "a" }, 1] },
          {
            op: "and",
            args: [
              { op: "=", args: [{ property: "b" }, 2] },
              { op: "not", args: [{ op: "=", args: [{ property: "c" }, 3] }] },
            ],
          },
        ],
      },
    ],
    [
      "(a = 1 or b = 2) and c = true",
      {
        op: "and",
        args: [
          {
            op: "or",
            args: [
              { op: "=", args: [{ property: "a" }, 1] },
              { op: "=", args: [{ property: "b" }, 2] },
            ],
          },
          { op: "=", args: [{ property: "c" }, true] },
        ],
      },
    ],
    [
      "a NOT BETWEEN 1 AND 2 + 3 * 4",
      {
        op: "not",
        args: [
          {
            op: "between",
            args: [{ property: "a" }, 1, { op: "+", args: [2, { op: "*", args: [3, 4] }] }],
          },
        ],
      },
    ],
    ["a IN ('x', 'y')", { op: "in", args: [{ property: "a" }, ["x", "y"]] }],
    [
      "CASEI(a) LIKE 'x%'",
      { op: "like", args: [{ op: "casei", args: [{ property: "a" }] }, "x%"] },
    ],
    ["a IS NOT NULL", { op: "not", args: [{ op: "isNull", args: [{ property: "a" }] }] }],
    [
      "T_DURING(datetime, INTERVAL('2020-01-01', '..'))",
      { op: "t_during", args: [{ property: "datetime" }, { interval: ["2020-01-01", ".."] }] },
    ],
    [
      "T_METBY(datetime, TIMESTAMP('2020-01-01T00:00:00Z'))",
      { op: "t_metBy", args: [{ property: "datetime" }, { timestamp: "2020-01-01T00:00:00Z" }] },
    ],
    [
      "S_INTERSECTS(geometry, POLYGON((0 0, 1 0, 1 -1, 0 0)))",
      {
        op: "s_intersects",
        args: [
          { property: "geometry" },
          {
            type: "Polygon",
            coordinates: [
              [
                [0, 0],
                [1, 0],
                [1, -1],
                [0, 0],
              ],
            ],
          },
        ],
      },
    ],
    [
      "S_INTERSECTS(BBOX(0, 1, 2, 3), geometry)",
      { op: "s_intersects", args: [{ bbox: [0, 1, 2, 3] }, { property: "geometry" }] },
    ],
    [
      "S_INTERSECTS(geometry, MULTIPOINT((1 2), (3 4)))",
      {
        op: "s_intersects",
        args: [
          { property: "geometry" },
          {
            type: "MultiPoint",
            coordinates: [
              [1, 2],
              [3, 4],
            ],
          },
        ],
      },
    ],
  ])("%s", (text, json) => {
    expect(parseText(text)).toEqual(json);
    expect(filterFromText(text)).toEqual(filterFromJson(json));
  });
});

describe("what cannot be read is refused, with the place", () => {
  it.each([
    ["", /its end at 1, where a value/],
    ["a", /not a condition/],
    ["a =", /its end at 4/],
    ["a = 1 b", /"b" at 7, where an operator/],
    ["a = 'open", /"'open" at 5/],
    ["a ~ 1", /"~ 1" at 3/],
    ["(a = 1", /its end at 7, where "\)"/],
    ["a IN 1", /"1" at 6/],
    ["1 AND 2", /not a condition/],
    ["AND = 1", /keyword/],
    ["drop(a) = 1", /"drop" gives no value/],
    ["a = TIMESTAMP('yesterday')", /not a time/],
    ["a = DATE('2020-02-50')", /not a date/],
    ["S_INTERSECTS(geometry, POLYGON((0 0, 1 0)))", /not a geometry/],
    ["S_INTERSECTS(a, b)", /not a geometry/],
    ["T_AFTER(datetime, 5)", /not a time/],
    [`${"(".repeat(200)}a = 1${")".repeat(200)}`, /nested too deeply/],
    [`a = ${"casei(".repeat(200)}a${")".repeat(200)}`, /nested too deeply/],
    [`a = ${"- ".repeat(5000)}1`, /nested too deeply/],
    [`a = '${"x".repeat(20_000)}'`, /longer than/],
  ])("%.60s", (text, reason) => {
    expect(() => filterFromText(text)).toThrow(reason);
  });

  it.each<[Json, RegExp]>([
    [null, /not a condition/],
    [{ op: "=", args: [1] }, /takes 2 operands, not 1/],
    [{ op: "and", args: [] }, /needs operands/],
    [{ op: "__proto__", args: [] }, /not an operator/],
    [{ op: "=", args: [{ property: 5 }, 1] }, /named by a text/],
    [{ op: "=", args: [{ property: "a" }, null] }, /not a value/],
    [{ op: "in", args: [{ property: "a" }, "x"] }, /needs a list/],
  ])("%j", (json, reason) => {
    expect(() => filterFromJson(json)).toThrow(reason);
  });

  it("a filter in JSON that is nested too deeply", () => {
    let deep: Json = true;
    for (let level = 0; level < 5000; level++) deep = { op: "not", args: [deep] };
    expect(() => filterFromJson(deep)).toThrow(/nested too deeply/);
  });
});

describe("spatial conditions", () => {
  const here = "S_INTERSECTS(geometry, POINT(1 2))";
  const there = "S_INTERSECTS(geometry, POINT(5 5))";
  const at = (x: number, y: number) => ({ type: "Point" as const, coordinates: [x, y] });

  it("leave a filter alone that has none", () => {
    expect(separateSpatial(filterFromText("a = 1 AND NOT b = 2"))).toBeUndefined();
  });

  it("are asked of boxes only where a box that is missed decides", () => {
    const { wide } = separateSpatial(filterFromText(`a = 1 AND (b = 2 OR ${here})`))!;
    expect(wide).toEqual(filterFromText(`a = 1 AND (b = 2 OR ${here})`));
    const no = { kind: "constant", value: false };
    expect(separateSpatial(filterFromText(`NOT ${here}`))!.wide).toEqual({ kind: "not", part: no });
    const twice = `NOT (a = 1 OR NOT ${here})`;
    expect(separateSpatial(filterFromText(twice))!.wide).toEqual(filterFromText(twice));
  });

  it.each<[string, (boolean | null)[], boolean, boolean]>([
    // Filter, what the database says of a = 1, found at 1 2, found at 0 0.
    [here, [], true, false],
    [`NOT ${here}`, [], false, true],
    [`a = 1 OR ${here}`, [false], true, false],
    [`a = 1 OR ${here}`, [true], true, true],
    [`a = 1 OR ${here}`, [null], true, false],
    [`a = 1 AND ${here}`, [null], false, false],
    [`NOT (a = 1 AND ${here})`, [true], false, true],
    [`NOT (a = 1 AND ${here})`, [null], false, true],
    [`a = 1 AND (${here} OR ${there})`, [true], true, false],
    [`${here} AND ${there}`, [], false, false],
    [`NOT (${here} OR ${there})`, [], false, true],
  ])("are decided by the geometry: %s with %j", (text, answers, here12, here00) => {
    const { asked, decide } = separateSpatial(filterFromText(text))!;
    expect(asked).toHaveLength(answers.length);
    expect([decide(answers, at(1, 2)), decide(answers, at(0, 0))]).toEqual([here12, here00]);
  });
});

describe("a query", () => {
  it("is a filter in other words", () => {
    expect(filterFromQuery({ a: { gte: 1, neq: 5 }, b: { in: ["x"] } })).toEqual({
      kind: "all",
      parts: [filterFromText("a >= 1"), filterFromText("a <> 5"), filterFromText("b IN ('x')")],
    });
    expect(filterFromQuery({ a: { startsWith: "50%_" } })).toEqual({
      kind: "all",
      parts: [filterFromText("a LIKE '50\\%\\_%'")],
    });
    expect(filterFromQuery({ a: { eq: null } })).toEqual({
      kind: "all",
      parts: [filterFromText("a IS NULL")],
    });
  });

  it.each<[Json, RegExp]>([
    ["text", /must be an object/],
    [{ a: 5 }, /must name operators/],
    [{ a: { like: "x" } }, /not an operator/],
    [{ a: { eq: {} } }, /texts, numbers or booleans/],
    [{ a: { contains: 5 } }, /needs a text/],
  ])("is refused: %j", (query, reason) => {
    expect(() => filterFromQuery(query)).toThrow(reason);
  });
});
