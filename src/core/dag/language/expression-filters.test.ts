import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../model/json.ts";
import { parseTemplate, render } from "./template.ts";

const inputs: JsonObject = {
  a: 6,
  half: 0.5,
  s: "Cog",
  empty: "",
  none: null,
  list: [3, "x", [1]],
  object: { k: "v", "a-b": 1 },
};

/** The value of one expression, or its problem or failure behind a `!`. */
function evaluate(expression: string): Json {
  const parsed = parseTemplate(`{{ ${expression} }}`);
  if (!parsed.ok) return `! ${parsed.problems.map(({ message }) => message).join("; ")}`;
  const context = { inputs, job: {}, env: {}, node: () => undefined };
  const result = render(parsed.template, context);
  return result.ok ? result.value : `! ${result.message}`;
}

describe("filters", () => {
  it.each<[string, Json]>([
    ["inputs.x | default('d')", "d"],
    ["inputs.x.y.z | default(1)", 1],
    ["inputs.none.y | d([])", []],
    ["inputs.x | default", ""],
    ["inputs.none | default('d')", null],
    ["inputs.none | default('d', true)", "d"],
    ["inputs.empty | default('d', true)", "d"],
    ["false | default('d', boolean=true)", "d"],
    ["inputs.s | default('d', true)", "Cog"],
    ["inputs.s | default(inputs.nothing)", "Cog"],
    ["inputs.list[9] | default(inputs.x | default(2))", 2],
    ["inputs.list[inputs.x] | default(0)", 0],
    ["item | default('outside')", "outside"],
    ["(inputs.x if true else 1) | default(5)", 5],
    ["(none or inputs.x) | default(5)", 5],
    ["inputs.list | length", 3],
    ["inputs.object | count", 2],
    ["'a😀é' | length", 3],
    ["inputs.s | lower", "cog"],
    ["inputs.s | upper | lower", "cog"],
    ["[1, 'a', true, [2]] | join(', ')", "1, a, true, [2]"],
    ["['a', 'b'] | join", "ab"],
    ["[] | join('-')", ""],
    ["3 | range", [0, 1, 2]],
    ["(1000000 | range)[999999]", 999_999],
    ["1000001 | range", "! range needs a whole number from 0 to 1000000"],
    ["inputs.object | tojson", '{"k":"v","a-b":1}'],
    ["'\"' | tojson", '"\\""'],
    ["none | tojson", "null"],
    ["'42' | int", 42],
    ["' -4.9 ' | int", -4],
    ["-0.5 | int", 0],
    ["true | int", 1],
    ["'abc' | int(7)", 7],
    ["none | int(default=0)", 0],
    ["'1e2' | float", 100],
    ["inputs.half | float", 0.5],
    ["'1' ~ 2 | float", "12"],
  ])("%s is %j", (expression, value) => {
    expect(evaluate(expression)).toStrictEqual(value);
  });

  it.each([
    ["5 | length", "length needs a list, a string or an object, but here is a number"],
    ["5 | lower", "lower needs a string, but here is a number"],
    ["none | upper", "upper needs a string, but here is null"],
    ["'abc' | join", "join needs a list, but here is a string"],
    ["[1] | join(1)", "join needs a string between, but here is a number"],
    ["[none] | join", "null cannot stand inside text"],
    ["'abc' | int", 'int cannot read "abc"; give a default: int(0)'],
    ["'' | float", 'float cannot read ""'],
    ["'1e400' | float", 'float cannot read "1e400"'],
    ["'0x10' | int", "int cannot read"],
    ["none | int", "int cannot read null"],
    ["inputs.x | int(0)", "inputs has no 'x'"],
    ["inputs.a | lenght", "there is no filter lenght; known are default, d, length"],
    ["inputs.a | lenght", 'did you mean "length"?'],
    ["inputs.a | length(1)", "wrong arguments for the filter length, which takes: none"],
    [
      "inputs.a | default(1, 2, 3)",
      "wrong arguments for the filter default, which takes: default_value, boolean",
    ],
    ["inputs.a | default(nope=1)", "wrong arguments for the filter default"],
    ["inputs.a | default(1, default_value=2)", "wrong arguments for the filter default"],
    ["inputs.a | default(*inputs.list)", "not available"],
    ["inputs.a | default(1).x", "a filter is a name with arguments"],
  ])("%s fails: %s", (expression, message) => {
    expect(evaluate(expression)).toContain("! ");
    expect(evaluate(expression)).toContain(message);
  });
});

describe("tests", () => {
  it.each<[string, boolean]>([
    ["inputs.a is defined", true],
    ["inputs.x.y is defined", false],
    ["inputs.x is undefined", true],
    ["inputs.x is not defined", true],
    ["inputs.none is none", true],
    ["inputs.none is not none", false],
    ["inputs.a is null", false],
    ["true is true", true],
    ["1 is true", false],
    ["false is false", true],
    ["false is boolean", true],
    ["'a' is string", true],
    ["1.5 is number", true],
    ["'1' is number", false],
    ["1 is integer", true],
    ["1.5 is float", true],
    ["inputs.object is mapping", true],
    ["inputs.list is mapping", false],
  ])("%s is %j", (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  it("names the known ones where one is unknown", () => {
    expect(evaluate("1 is strng")).toBe(
      '! there is no test strng; known are defined, undefined, none, null, true, false, boolean, string, number, integer, float, mapping; did you mean "string"?',
    );
  });
});
