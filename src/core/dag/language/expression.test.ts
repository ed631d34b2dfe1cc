import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../model/json.ts";
import { parseTemplate, render } from "./template.ts";

const inputs: JsonObject = {
  a: 6,
  b: 4,
  half: 0.5,
  s: "Cog",
  empty: "",
  none: null,
  yes: true,
  list: [3, "x", [1]],
  object: { k: "v", "a-b": 1 },
  name: "k",
};

/** The value of one expression, or its problem or failure behind a `!`. */
function evaluate(expression: string): Json {
  const parsed = parseTemplate(`{{ ${expression} }}`);
  if (!parsed.ok) return `! ${parsed.problems.map(({ message }) => message).join("; ")}`;
  const result = render(parsed.template, {
    inputs,
    job: {},
    env: {},
    node: (id) => (id === "done" ? { status: "completed", output: { size: 1 } } : undefined),
  });
  return result.ok ? result.value : `! ${result.message}`;
}

describe("operators", () => {
  it.each<[string, Json]>([
    ["1", 1],
    ["1.5", 1.5],
    ["2e3", 2000],
    ["'it' ~ 1 ~ true", "it1true"],
    ["true", true],
    ["False", false],
    ["none", null],
    ["[1, 'a', none, [true]]", [1, "a", null, [true]]],
    ["[1, 2,]", [1, 2]],
    ["{'a': 1, inputs.name: [inputs.a]}", { a: 1, k: [6] }],
    ["inputs.a + inputs.b", 10],
    ["inputs.a - inputs.b - 1", 1],
    ["inputs.a * inputs.b", 24],
    ["inputs.a / inputs.b", 1.5],
    ["7 // 2", 3],
    ["-7 // 2", -4],
    ["7 % 3", 1],
    ["-7 % 3", 2],
    ["7 % -3", -2],
    ["0 * -1", 0],
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["-inputs.a + 1", -5],
    ["- -1", 1],
    ["'a' + 'b'", "ab"],
    ["[1] + [2]", [1, 2]],
    ["1 == 1.0", true],
    ["1 == '1'", false],
    ["true == 1", false],
    ["none == false", false],
    ["[1, {'a': [2]}] == [1, {'a': [2]}]", true],
    ["{'a': 1} == {'b': 1}", false],
    ["{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", true],
    ["[1] == {'0': 1}", false],
    ["1 != 2", true],
    ["1 < 2", true],
    ["2 <= 2", true],
    ["1 > 2", false],
    ["'b' >= 'a'", true],
    ["3 in inputs.list", true],
    ["[1] in inputs.list", true],
    ["'o' in inputs.s", true],
    ["'k' in inputs.object", true],
    ["'toString' in inputs.object", false],
    ["1 not in inputs.list", true],
    ["not 1 in inputs.list", true],
    ["true and 0", 0],
    ["'x' and 'y'", "y"],
    ["0 or none or 'z'", "z"],
    ["not ''", true],
    ["not [] and not {} and not 0", true],
    ["1 if inputs.yes else 2", 1],
    ["1 if inputs.none else 2 if inputs.empty else 3", 3],
    ["true or inputs.nothing", true],
    ["false and inputs.nothing", false],
    ["1 if true else inputs.nothing", 1],
    ["(1 == 1) == true", true],
  ])("%s is %j", (expression, value) => {
    expect(evaluate(expression)).toStrictEqual(value);
  });

  it.each([
    [
      "1 + 'a'",
      "+ needs two numbers, two strings or two lists, but here are a number and a string",
    ],
    ["true + 1", "here are a boolean and a number"],
    ["'a' * 3", "* needs two numbers, but here are a string and a number"],
    ["-'a'", "* needs two numbers"],
    ["1 / 0", "1 / 0 is a division by zero"],
    ["1 // 0", "division by zero"],
    ["1 % 0", "division by zero"],
    ["9007199254740991 + 1", "9007199254740991 + 1 is too large a number"],
    ["1e300 * 1e300", "too large"],
    ["1 < 'a'", "< needs two numbers or two strings, but here are a number and a string"],
    ["none < 1", "here are null and a number"],
    ["[1] < [2]", "here are a list and a list"],
    ["1 in 5", "in needs a list, a string or an object to look in, but here is a number"],
    ["1 in 'a1'", "a string contains strings only, but here is a number"],
    ["'a' ~ none", "null cannot stand inside text"],
    ["{1: 2}", "a key must be a string, but here is a number"],
  ])("%s fails: %s", (expression, message) => {
    expect(evaluate(expression)).toContain("! ");
    expect(evaluate(expression)).toContain(message);
  });
});

describe("members", () => {
  it.each<[string, Json]>([
    ["inputs.list[0]", 3],
    ["inputs.list[-1]", [1]],
    ["inputs.list.1", "x"],
    ["inputs.list[2][0]", 1],
    ["inputs.object['a-b']", 1],
    ["inputs.object[inputs.name]", "v"],
    ["inputs.list[inputs.a - 5]", "x"],
    ["[4, 5][1]", 5],
    ["{'a': {'b': 2}}.a.b", 2],
    ["nodes.done.output.size", 1],
    ["nodes['done'].status", "completed"],
  ])("%s is %j", (expression, value) => {
    expect(evaluate(expression)).toStrictEqual(value);
  });

  it.each([
    [
      "inputs.objekt",
      "inputs has no 'objekt'; it has: a, b, half, s, empty, none, yes, list, object, name; did you mean \"object\"?",
    ],
    ["inputs.object.x.y", "inputs.object has no 'x'; it has: k, a-b"],
    ["inputs.list[7]", "inputs.list has no index 7; it is a list of 3"],
    ["inputs.list[-4]", "inputs.list has no index -4"],
    ["inputs.list[0.5]", "inputs.list has no index 0.5"],
    ["inputs.list['0']", "inputs.list has no '0'"],
    ["inputs.none.x", "inputs.none is null and has no 'x'"],
    ["inputs.s[0]", "inputs.s is a string and has no index 0"],
    ["inputs.object['a-b'].c", "inputs.object[\"a-b\"] is a number and has no 'c'"],
    ["inputs.object[inputs.s]", "inputs.object has no 'Cog'"],
    ["inputs.object[none]", "null cannot name a member"],
    ["nodes.later.output", "nodes has no 'later' here"],
    [
      "nodes.done.output.sice",
      "nodes.done.output has no 'sice'; it has: size; did you mean \"size\"?",
    ],
    ["item.x", "item exists only in the task of a fan_out"],
    ["index", "index exists only in the task of a fan_out"],
    ["inputz.a", "inputz is not known; known are inputs, nodes, upstream, item, index, job, env"],
    ["[inputs.x]", "inputs has no 'x'"],
    ["inputs.x == none", "inputs has no 'x'"],
    ["not inputs.x", "inputs has no 'x'"],
    ["inputs.x is none", "inputs has no 'x'"],
    ["inputs.x | lower | default('a')", "inputs has no 'x'"],
  ])("%s is undefined and says so", (expression, message) => {
    expect(evaluate(expression)).toContain(`! ${message}`);
  });

  it.each([
    ["nodes", "nodes needs a literal name: nodes.a.output"],
    ["nodes[inputs.name].output", "nodes needs a literal name"],
    ["nodes | length", "nodes needs a literal name"],
    ["env[inputs.name]", "env needs a literal name: env.NAME"],
    ["nodes.done.result", "a node has output and status, not result"],
  ])("%s cannot be checked at load and is refused", (expression, message) => {
    expect(evaluate(expression)).toContain(`! ${message}`);
  });
});

describe("what the language does not have", () => {
  it.each([
    ["[1 2]", "an operator or a comma is missing before 2"],
    ["inputs.list[0 1]", "an operator or a comma is missing before 1"],
    ["'a' 'b'", "an operator or a comma is missing before 'b'"],
    ["{'a': 1 'b': 2}", "an operator or a comma is missing before 'b'"],
    ["1 < 2 < 3", "comparisons cannot be chained"],
    ["1 in [1] == true", "comparisons cannot be chained"],
    ["(1, 2)", "a list is written with square brackets"],
    ["1, 2", "a list is written with square brackets"],
    ["inputs.list[0:1]", "slices such as a[1:2] are not available"],
    ["2 ** 3", "the operator ** is not available"],
    ["1 if true", "an if needs its else"],
    ["1 && 2", "&& is not an operator; write and"],
    ["inputs.x || 2", "|| is not an operator; write or"],
    ["!1", "unexpected character !"],
    ["a = 1", "unexpected ="],
    ["{{ 1 }}", "{{ inside an expression"],
    ["inputs.größe", "unexpected character ö"],
    ["'\\d'", "unknown escape in a string"],
    ["12345678901234567890", "the number 12345678901234567890 is too large to be exact"],
    ["(1", "( is never closed"],
    ["1)", ") closes nothing"],
    ["[1)", ") closes nothing"],
  ])("refuses %s", (expression, message) => {
    expect(evaluate(expression)).toContain(`! ${message}`);
  });
});
