import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../model/json.ts";
import { holds, parseCondition } from "./condition.ts";
import type { TemplateContext } from "./expression/scope.ts";

const inputs: JsonObject = {
  kind: "raster",
  size: 150,
  none: null,
  empty: [],
  tags: ["a", { k: 1 }],
  options: { cog: true, "a-b": 1 },
  path: "bronze/in.tif",
};

const context: TemplateContext = {
  inputs,
  job: { job_id: "j1" },
  env: {},
  item: 3,
  index: 0,
  node: (id) =>
    id === "validate" || id === "a-b"
      ? { status: "completed", output: { file_size_mb: 150, list: [1, 2] } }
      : undefined,
};

/** true, false, or a problem with its place or a failure behind a `!`. */
function verdict(text: string, form: "whole" | "short", field?: Json): boolean | string {
  const parsed = parseCondition(text, form);
  if (!parsed.ok) return parsed.problems.map((p) => `! ${p.offset}: ${p.message}`).join("; ");
  const result = holds(parsed.condition, context, field);
  return result.ok ? result.value : `! ${result.message}`;
}

describe("a whole condition", () => {
  it.each<[string, boolean]>([
    ["{{ nodes.validate.output.file_size_mb }} > 100", true],
    ["{{ nodes.validate.output.file_size_mb > 100 and inputs.kind == 'raster' }}", true],
    ["nodes.validate.output.file_size_mb <= 100", false],
    ['nodes["a-b"].output.list[-1] == 2', true],
    ["inputs.options['a-b']==1", true],
    ["inputs.kind == raster", true],
    ["inputs.kind == 'raster'", true],
    ['inputs.kind != "vector"', true],
    ["inputs.kind == {{ 'ras' ~ 'ter' }}", true],
    ["is_null(inputs.none)", true],
    ["is_null(inputs.size)", false],
    ["is_null( inputs.nothing.there )", true],
    ["is_not_null({{ inputs.size }}) and not is_null(inputs.kind)", true],
    ["is_not_null(nodes.unknown.output.x)", false],
    ["inputs.size == inputs.size", true],
    ["inputs.size < 150", false],
    ["inputs.size >= 150", true],
    ["inputs.size > -1.5e1", true],
    ["inputs.size == '150'", false],
    ["inputs.kind < sea", true],
    ["inputs.kind in [vector, raster]", true],
    ["inputs.kind in raster-data", true],
    ["inputs.kind not_in [vector]", true],
    ["inputs.kind not in [raster]", false],
    ["inputs.size in [100, 150]", true],
    ["inputs.kind in []", false],
    ["inputs.options contains cog", true],
    ["inputs.options contains toString", false],
    ["inputs.tags contains a", true],
    ["inputs.tags contains {{ {'k': 1} }}", true],
    ["inputs.path contains /in", true],
    ["inputs.path starts_with bronze/", true],
    ["inputs.path ends_with .tif", true],
    ["inputs.path ends_with .TIF", false],
    ["inputs.none is null", true],
    ["inputs.none is not null", false],
    ["inputs.size is not none", true],
    ["inputs.none == null", true],
    ["inputs.options.cog == True", true],
    ["inputs.options.cog != false", true],
    ["inputs.empty == []", true],
    ["[1, [a]] == [1, [a]]", true],
    ["item == 3", true],
    ["index < 1", true],
    ["inputs contains kind", true],
    ["inputs.kind == item", false],
    ["inputs.kind", true],
    ["inputs.empty", false],
    ["not inputs.none", true],
    ["{{ inputs.none }}", false],
    ["{{ 0 }}", false],
    ["true", true],
    ["'false'", true],
    ["false or true and false", false],
    ["(false or true) and true", true],
    ["true or false and false", true],
    ["not false and false", false],
    ["not (false and false)", true],
    ["not not true", true],
    ["not inputs.size > 100", false],
    ["((inputs.size > 100) and (inputs.kind == raster or inputs.kind == vector))", true],
    ["true or inputs.nothing", true],
    ["false and inputs.nothing > 1", false],
  ])("%s is %j", (text, value) => {
    expect(verdict(text, "whole")).toBe(value);
  });

  it.each([
    ["inputs.size > big", "> needs two numbers or two strings, but here are a number and a string"],
    ["inputs.none < 1", "< needs two numbers or two strings, but here are null and a number"],
    ["inputs.tags >= 1", "here are a list and a number"],
    [
      "inputs.size contains 1",
      "contains needs a list, a string or an object to look in, but here is a number",
    ],
    ["inputs.size in 5", "in needs a list, a string or an object to look in"],
    ["inputs.kind contains 1", "a string contains strings only, but here is a number"],
    [
      "inputs.size starts_with 1",
      "starts_with needs two strings, but here are a number and a number",
    ],
    ["inputs.none ends_with a", "ends_with needs two strings, but here are null and a string"],
    ["inputs.nothing == 1", "inputs has no 'nothing'"],
    ["inputs.nothing is null", "inputs has no 'nothing'"],
    ["inputs.nothing or true", "inputs has no 'nothing'"],
    ["not inputs.nothing", "inputs has no 'nothing'"],
    ["inputs.size == nodes.later.output.x", "nodes has no 'later' here"],
    ["{{ 1 / 0 }} == 1", "division by zero"],
  ])("%s cannot be evaluated and is not false", (text, message) => {
    expect(verdict(text, "whole")).toContain(`! `);
    expect(verdict(text, "whole")).toContain(message);
  });
});

describe("a short condition", () => {
  it.each<[string, Json, boolean]>([
    ["< 100", 99, true],
    ["<100", 100, false],
    [">= 10 and < 20", 15, true],
    [">= 10 and < 20", 20, false],
    ["< 10 or > 20", 25, true],
    ["not < 10", 5, false],
    ["not (< 10 or > 20)", 15, true],
    ["in [a, b]", "b", true],
    ["not_in [a, b]", "b", false],
    ["not in [a, b]", "c", true],
    ["not not in [a]", "a", true],
    ["== raster", "raster", true],
    ["!= raster", "raster", false],
    ["raster", "raster", true],
    ["'raster'", "raster", true],
    ["100", 100, true],
    ["100", "100", false],
    ["true", true, true],
    ["true", 1, false],
    ["null", null, true],
    ["raster or vector", "vector", true],
    ["[1, a]", [1, "a"], true],
    ["{{ inputs.kind }}", "raster", true],
    ["inputs.kind", "raster", true],
    ["image/tiff", "image/tiff", true],
    ["== EPSG:4326", "EPSG:4326", true],
    ["== 2024-01-31", "2024-01-31", true],
    ["is null", null, true],
    ["is not null", null, false],
    ["contains a", ["a"], true],
    ["starts_with a", "abc", true],
    ["ends_with a", "abc", false],
    ["> {{ inputs.size - 1 }}", 150, true],
    ["> 5 and inputs.kind == raster", 6, true],
  ])("%s of %j is %j", (text, field, value) => {
    expect(verdict(text, "short", field)).toBe(value);
  });

  it("fails without a field and where the types do not fit", () => {
    expect(verdict("< 100", "short")).toBe("! the condition is about a field, and there is none");
    expect(verdict("< 100", "short", "50")).toContain("here are a string and a number");
  });
});

describe("problems", () => {
  it.each<[string, "whole" | "short", string]>([
    ["", "whole", "! 0: the condition is empty"],
    ["  ", "short", "! 2: the condition is empty"],
    ["< 100", "whole", "! 0: nothing stands before <; name a value there, or use condition_field"],
    ["inputs.a == 1 and not in [1]", "whole", "! 18: nothing stands before not"],
    ["raster", "whole", "! 0: raster is only a word"],
    ["kind == raster", "whole", "! 0: kind is only a word"],
    ["kind == raster", "short", "! 0: kind is only a word"],
    ["inputs.a ==", "whole", "! 11: a value is missing at the end"],
    ["inputs.a == and", "whole", "! 12: a value is missing before and"],
    ["inputs.a == 1 and", "whole", "! 17: a value is missing at the end"],
    ["inputs.a == == 1", "whole", "! 12: a value is missing before =="],
    [
      "== big raster",
      "short",
      "! 7: unexpected raster; a text of several words is written in quotes",
    ],
    [
      "inputs.a conatins 1",
      "whole",
      '! 9: unexpected conatins; a text of several words is written in quotes; did you mean "contains"?',
    ],
    ["inputs.a == 1 == 2", "whole", "! 14: unexpected =="],
    ["(inputs.a == 1", "whole", "! 0: ( is never closed"],
    ["inputs.a == 1)", "whole", "! 13: unexpected )"],
    ["(inputs.a) == 1", "whole", "! 11: parentheses hold a whole condition"],
    ["in [1, 2", "short", "! 3: [ is never closed"],
    ["in [1 2]", "short", "! 6: a comma is missing"],
    ["in [1,,2]", "short", "! 6: a value is missing before ,"],
    ["is defined", "short", "! 3: after is comes null or not null"],
    ["inputs.a = 1", "whole", "! 9: = is not an operator; write =="],
    ["!inputs.a", "whole", "! 0: ! is not an operator; write not"],
    ["inputs.a && inputs.b", "whole", "! 9: && is not an operator; write and"],
    ["{ inputs.a } == 1", "whole", "! 0: an expression is written in two braces"],
    ["inputs.a == 'x", "whole", "! 12: the string is never closed with '"],
    ["{{ inputs.a == 1", "whole", "! 0: {{ is never closed with }}"],
    ["{{ inputs.a }} == {{ f() }}", "whole", "! 21: there are no functions or methods to call"],
    ["nodes.a.result == 1", "whole", "! 0: a node has output and status, not result"],
    ["inputs.a-b == 1", "whole", "! 0: inputs.a-b is not a plain path"],
    ["inputs.a + 1 == 2", "whole", "! 9: unexpected +"],
    ["> 12345678901234567890", "short", "! 2: the number 12345678901234567890 is too large"],
    ["inputs.constructor('x')", "whole", "! 18: unexpected ("],
    ["{% if x %}", "whole", "! 0: an expression is written in two braces"],
  ])("%j (%s)", (text, form, problem) => {
    expect(verdict(text, form, 1)).toContain(problem);
  });

  it("refuses what is too long or nested too deeply", () => {
    expect(verdict("x".repeat(20_000), "short", 1)).toContain("may have 16384 characters");
    for (const text of ["(".repeat(8000), "not ".repeat(4000), `in ${"[".repeat(8000)}`]) {
      expect(verdict(text, "short", 1)).toContain("nested deeper than 64 levels");
    }
  });

  it("stops a condition that works too much", () => {
    const text = Array.from({ length: 700 }, () => "inputs.l contains 2").join(" or ");
    const parsed = parseCondition(text, "whole");
    const large = { ...context, inputs: { l: Array<Json>(100_000).fill(1) } };
    expect(parsed.ok && holds(parsed.condition, large)).toStrictEqual({
      ok: false,
      message: "the evaluation takes more than 50000 steps",
    });
  });
});

describe("references of a condition", () => {
  it("come from braces and from bare paths, with their places", () => {
    const parsed = parseCondition(
      "{{ inputs.a | default(1) }} > 1 and nodes.b.output.c in [inputs.d, e]",
      "whole",
    );
    expect(parsed.ok && parsed.condition.references).toStrictEqual([
      { root: "inputs", path: ["a"], at: [], offset: 3, optional: true },
      { root: "nodes", path: ["b", "output", "c"], at: [], offset: 36, optional: false },
      { root: "inputs", path: ["d"], at: [], offset: 57, optional: false },
    ]);
  });
});

it("answers whatever is written", () => {
  const fragments = fc.constantFrom(
    ..."( ) [ ] , == != < >= in not_in not and or is null contains starts_with ' \" { {{ }} . ".split(
      " ",
    ),
    ..."inputs.size {{inputs.kind}} item raster 5 -1 true 'a' [1,a] && = !".split(" "),
  );
  const source = fc.oneof(
    fc.string(),
    fc.array(fragments, { maxLength: 20 }).map((words) => words.join(" ")),
    fc.array(fragments, { maxLength: 20 }).map((words) => words.join("")),
  );
  fc.assert(
    fc.property(source, fc.constantFrom("whole", "short"), fc.jsonValue(), (text, form, field) => {
      const result = verdict(text, form, field as Json);
      expect(typeof result === "boolean" || result.startsWith("! ")).toBe(true);
      expect(String(result)).not.toContain("broke off");
    }),
    { numRuns: 2000 },
  );
});
