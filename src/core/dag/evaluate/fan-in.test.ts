import { describe, expect, it } from "vitest";
import { aggregate } from "./fan-in.ts";

const sources = (...outputs: unknown[]) =>
  outputs.map((output, index) => ({ node_id: `n__${index}`, index, output: output as never }));

describe("aggregate", () => {
  it.each([
    ["collect", { results: [{ a: 1 }, { a: 2 }], count: 2 }],
    ["first", { result: { a: 1 }, count: 2 }],
    ["last", { result: { a: 2 }, count: 2 }],
    ["sum", { total: 3, count: 2 }],
    ["concat", { results: [], count: 2 }],
  ] as const)("%s of two outputs", (mode, output) => {
    expect(aggregate({ aggregation: mode }, sources({ a: 1 }, { a: 2 }))).toEqual({
      ok: true,
      output,
    });
  });

  it.each([
    ["collect", { results: [], count: 0 }],
    ["first", { result: null, count: 0 }],
    ["last", { result: null, count: 0 }],
    ["sum", { total: 0, count: 0 }],
    ["concat", { results: [], count: 0 }],
  ] as const)("%s of nothing", (mode, output) => {
    expect(aggregate({ aggregation: mode }, [])).toEqual({ ok: true, output });
  });

  it("concat flattens the lists in the outputs", () => {
    const output = { results: [1, 2, 3, 4], count: 2 };
    expect(
      aggregate({ aggregation: "concat" }, sources({ list: [1, 2], n: 9 }, { x: [3], y: [4] })),
    ).toEqual({
      ok: true,
      output,
    });
  });

  it("sum adds every number at the top and nothing else", () => {
    const answer = aggregate(
      { aggregation: "sum" },
      sources({ a: 1.5, b: 2, c: "3", d: true, e: { f: 4 } }),
    );
    expect(answer).toEqual({ ok: true, output: { total: 3.5, count: 1 } });
  });

  it("refuses a sum that is no number", () => {
    const answer = aggregate({ aggregation: "sum" }, sources({ a: 1e308 }, { a: 1e308 }));
    expect(answer).toMatchObject({ ok: false, error: { code: "AGGREGATION_FAILED" } });
  });

  it("takes a field of each output, also a nested one", () => {
    const two = sources({ s: { n: 2, l: [1] }, n: 9 }, { s: { n: 3, l: [2, 3] } });
    expect(aggregate({ aggregation: "sum", field: "s.n" }, two)).toEqual({
      ok: true,
      output: { total: 5, count: 2 },
    });
    expect(aggregate({ aggregation: "concat", field: "s.l" }, two)).toMatchObject({
      output: { results: [1, 2, 3] },
    });
    expect(aggregate({ aggregation: "collect", field: "s.n" }, two)).toMatchObject({
      output: { results: [2, 3] },
    });
  });

  it.each([
    ["sum", "n", /"n" in the output of n__1 is not a number/],
    ["sum", "x", /"x" in the output of n__0 is missing/],
    ["concat", "n", /"n" in the output of n__0 is not a list/],
    ["first", "constructor", /is missing/],
  ] as const)(
    "%s of the field %s is refused where it does not fit",
    (aggregation, field, message) => {
      expect(aggregate({ aggregation, field }, sources({ n: 1 }, { n: "2" }))).toMatchObject({
        ok: false,
        error: { code: "AGGREGATION_FAILED", message: expect.stringMatching(message) as string },
      });
    },
  );
});
