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
    ["concat", { results: [{ a: 1 }, { a: 2 }], count: 2 }],
  ] as const)("%s of two outputs", (mode, output) => {
    expect(aggregate(mode, sources({ a: 1 }, { a: 2 }))).toEqual({ ok: true, output });
  });

  it.each([
    ["collect", { results: [], count: 0 }],
    ["first", { result: null, count: 0 }],
    ["last", { result: null, count: 0 }],
    ["sum", { total: 0, count: 0 }],
    ["concat", { results: [], count: 0 }],
  ] as const)("%s of nothing", (mode, output) => {
    expect(aggregate(mode, [])).toEqual({ ok: true, output });
  });

  it("concat flattens the lists in the outputs", () => {
    const output = { results: [1, 2, 3, 4], count: 2 };
    expect(aggregate("concat", sources({ list: [1, 2], n: 9 }, { x: [3], y: [4] }))).toEqual({
      ok: true,
      output,
    });
  });

  it("sum adds every number at the top and nothing else", () => {
    const answer = aggregate("sum", sources({ a: 1.5, b: 2, c: "3", d: true, e: { f: 4 } }));
    expect(answer).toEqual({ ok: true, output: { total: 3.5, count: 1 } });
  });

  it("refuses a sum that is no number", () => {
    const answer = aggregate("sum", sources({ a: 1e308 }, { a: 1e308 }));
    expect(answer).toMatchObject({ ok: false, error: { code: "AGGREGATION_FAILED" } });
  });
});
