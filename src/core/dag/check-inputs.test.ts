import { describe, expect, it } from "vitest";
import type { InputDeclaration } from "../model/workflow.ts";
import { inputDeclaration } from "../model/workflow.ts";
import { mayExplode } from "./check-inputs.ts";
import { checkInputs } from "./check-inputs.ts";

function declare(inputs: Record<string, object>): { inputs: Record<string, InputDeclaration> } {
  const parsed = Object.entries(inputs).map(
    ([name, each]) => [name, inputDeclaration.parse(each)] as const,
  );
  return { inputs: Object.fromEntries(parsed) };
}

describe("inputs of a job", () => {
  it("pass as they are when the workflow declares none", () => {
    expect(checkInputs({}, { any: [1] })).toEqual({ ok: true, inputs: { any: [1] } });
  });

  it("are completed with defaults, and what is optional stays out", () => {
    const definition = declare({ a: { default: 1, type: "integer" }, b: {}, c: {} });
    expect(checkInputs(definition, { c: "x" })).toEqual({ ok: true, inputs: { a: 1, c: "x" } });
  });

  it("are refused with every problem at once", () => {
    const definition = declare({
      "needed/one": { required: true },
      count: { type: "integer", minimum: 1, maximum: 5 },
      kind: { enum: ["raster", "vector"] },
      code: { pattern: "^[A-Z]{3}$" },
      list: { type: "array" },
    });
    const given = { count: 9, kind: "table", code: "abc", list: {}, cuont: 1 };
    expect(checkInputs(definition, given)).toEqual({
      ok: false,
      problems: [
        { pointer: "/needed~1one", code: "MISSING_INPUT", message: '"needed/one" is required' },
        { pointer: "/count", code: "WRONG_INPUT", message: '"count" must be at most 5' },
        {
          pointer: "/kind",
          code: "WRONG_INPUT",
          message: '"kind" must be one of "raster", "vector"',
        },
        { pointer: "/code", code: "WRONG_INPUT", message: '"code" must match ^[A-Z]{3}$' },
        {
          pointer: "/list",
          code: "WRONG_INPUT",
          message: '"list" must be an array, not a mapping',
        },
        {
          pointer: "/cuont",
          code: "UNKNOWN_INPUT",
          message: 'there is no input "cuont"; did you mean "count"?',
        },
      ],
    });
  });

  it("are refused quickly when sixty thousand of them are not known", () => {
    const declared = declare(
      Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [`declared_${n}`, { type: "string" }]),
      ),
    );
    const given = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`unknown_${n}`, 1]));
    const began = performance.now();
    const checked = checkInputs(declared, given);
    expect(performance.now() - began).toBeLessThan(1500);
    if (checked.ok) throw new Error("they were accepted");
    expect(checked.problems).toHaveLength(51);
    expect(checked.problems.at(-1)?.message).toBe("59950 more inputs are not known either");
  });

  it("compare an enum by content", () => {
    const definition = declare({ a: { type: "object", enum: [{ x: [1, null] }] } });
    expect(checkInputs(definition, { a: { x: [1, null] } }).ok).toBe(true);
    expect(checkInputs(definition, { a: { x: [1] } }).ok).toBe(false);
  });

  it("do not take inherited names for given ones", () => {
    const definition = declare({ toString: { required: true } });
    expect(checkInputs(definition, {})).toMatchObject({ problems: [{ code: "MISSING_INPUT" }] });
    expect(checkInputs(declare({}), { constructor: 1 })).toMatchObject({
      problems: [{ code: "UNKNOWN_INPUT" }],
    });
  });
});

describe("a pattern", () => {
  it.each(["(a+)+$", "(a|a)*b", "((ab)*c)+", "(x{1,5}){2,}", "([a-z]+)*"])(
    "%s is refused: a value made for it would never be matched to the end",
    (pattern) => {
      expect(mayExplode(pattern)).toBe(true);
    },
  );

  it.each(["^[A-Z]{3}$", "^(a|b)$", "^a+b*$", "^(abc)+$", "\\(a+\\)+", "[(a+)]+"])(
    "%s is fine",
    (pattern) => {
      expect(mayExplode(pattern)).toBe(false);
    },
  );
});
