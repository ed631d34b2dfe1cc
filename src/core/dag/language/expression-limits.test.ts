import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../model/json.ts";
import type { TemplateLimits } from "./expression/scope.ts";
import { parseTemplate, render } from "./template.ts";

const mebibyte = 1_048_576;

function message(source: Json, inputs: JsonObject = {}, limits?: Partial<TemplateLimits>): string {
  const parsed = parseTemplate(source);
  if (!parsed.ok) return parsed.problems[0]?.message ?? "";
  const context = { inputs, job: {}, env: {}, node: () => undefined };
  const result = render(parsed.template, context, limits);
  return result.ok ? "rendered" : result.message;
}

/** Generous for a busy machine: each stops within milliseconds, or up to a tenth of a second. */
function quickly(run: () => string): string {
  const start = performance.now();
  const result = run();
  expect(performance.now() - start).toBeLessThan(2000);
  return result;
}

const repeat = (part: string, count: number, between: string): string =>
  Array.from({ length: count }, () => part).join(between);

const big = "x".repeat(mebibyte - 10);
const tooLarge = /^the value has (more than )?\d+ characters of JSON.*; the limit is 67108864$/;
const tooLong = /^a text of \d+ characters is longer than a template may build \(1048576\)/;
const tooManySteps = /^the evaluation takes more than 50000 steps$/;

describe("bombs stop at their budget", () => {
  it.each<[string, string, JsonObject, RegExp]>([
    [
      "one large value many times",
      `{{ [${repeat("inputs.b", 1000, ",")}] }}`,
      { b: big },
      tooLarge,
    ],
    [
      "a large value in nested lists",
      `{{ ${"[".repeat(50)}${repeat("inputs.b", 65, ",")}${"]".repeat(50)} }}`,
      { b: big },
      tooLarge,
    ],
    ["a long chain of ~", `{{ ${repeat("inputs.b", 60, "~")} }}`, { b: big }, tooLong],
    ["mixed text", repeat("{{inputs.b}}", 1000, ""), { b: big }, tooLong],
    [
      "a join of a huge list",
      "{{ inputs.l | join(inputs.b) }}",
      { l: Array<Json>(100_000).fill("x"), b: big },
      tooManySteps,
    ],
    ["tojson of tojson", `{{ inputs.q ${repeat("| tojson", 50, "")} }}`, { q: '"' }, tooLong],
    [
      "a substring search of the worst kind",
      "{{ inputs.n in inputs.b }}",
      { b: "a".repeat(mebibyte), n: `b${"a".repeat(500_000)}` },
      tooManySteps,
    ],
    [
      "upper again and again",
      `{{ [${repeat("inputs.b|upper|length", 700, ",")}] }}`,
      { b: big },
      tooManySteps,
    ],
    [
      "comparing large lists again and again",
      `{{ [${repeat("inputs.l==inputs.m", 800, ",")}] }}`,
      { l: Array<Json>(100_000).fill(1), m: Array<Json>(100_000).fill(1) },
      tooManySteps,
    ],
    [
      "looking through a large list again and again",
      `{{ [${repeat("2 in inputs.l", 1000, ",")}] }}`,
      { l: Array<Json>(100_000).fill(1) },
      tooManySteps,
    ],
    [
      "gathering the keys of a large object again and again",
      `{{ [${repeat("not inputs.o", 1000, ",")}] }}`,
      { o: Object.fromEntries(Array.from({ length: 100_000 }, (_, key) => [`k${key}`, 1])) },
      tooManySteps,
    ],
    [
      "comparing large equal strings again and again",
      `{{ [${repeat("inputs.b==inputs.c", 800, ",")}] }}`,
      { b: big, c: "x".repeat(mebibyte - 10) },
      tooManySteps,
    ],
    [
      "adding lists",
      `{{ ${repeat("inputs.l", 60, "+")} }}`,
      { l: Array<Json>(100_000).fill(1) },
      tooManySteps,
    ],
  ])("%s", (_name, source, inputs, expected) => {
    expect(quickly(() => message(source, inputs))).toMatch(expected);
  });

  it("counts the whole tree together", () => {
    const tree = Array.from({ length: 20 }, () => "{{ inputs.b }}");
    const small = { size: mebibyte };
    expect(message(tree, { b: "x".repeat(100_000) }, small)).toBe(
      "the value has 100002 characters of JSON, with those before it more than allowed; the limit is 1048576",
    );
    expect(message(tree.slice(0, 10), { b: "x".repeat(100_000) }, small)).toBe("rendered");
    expect(message(["y".repeat(mebibyte), "{{ 1 }}"], {}, small)).toContain("is 1048576");
    expect(message("y".repeat(mebibyte), {}, small)).toContain("the limit is 1048576");
  });
});

describe("limits", () => {
  it("can be set by the caller", () => {
    const list = Array<Json>(200_000).fill(123456);
    expect(message("{{ inputs.l }}", { l: list }, { size: mebibyte })).toBe(
      "the value has 1400002 characters of JSON; the limit is 1048576",
    );
    expect(message("{{ inputs.l }}", { l: list })).toBe("rendered");
    expect(message("{{ 1 + 1 }}", {}, { steps: 0 })).toBe("the evaluation takes more than 0 steps");
  });

  it("inserts 60 MiB whole, thousands of times without weighing it again", () => {
    const list = Array<Json>(4_000_000).fill("123456789012");
    expect(quickly(() => message("{{ inputs.l }}", { l: list }))).toBe("rendered");
    const inputs = { l: list };
    quickly(() => {
      for (let index = 0; index < 5000; index += 1) message({ all: "{{ inputs.l }}" }, inputs);
      return "";
    });
  });

  it("stops at deep values without overflowing the stack", () => {
    let deep: Json = 1;
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    let other: Json = 1;
    for (let level = 0; level < 200_000; level += 1) other = [other];
    for (const source of [
      "{{ inputs.x }}",
      "{{ inputs.x | tojson }}",
      "a {{ inputs.x }}",
      "{{ inputs.x == inputs.y }}",
    ]) {
      expect(message(source, { x: deep, y: other })).toBe(
        "the value is nested deeper than 64 levels",
      );
    }
  });

  it.each([
    ["brackets", `${"(".repeat(8000)}1${")".repeat(8000)}`],
    ["lists", `${"[".repeat(8000)}1`],
    ["indexes", `${"a[".repeat(4000)}1`],
    ["not", `${"not ".repeat(4000)}1`],
    ["signs", `1 ${"- ".repeat(8000)}1`],
    ["sums", repeat("1", 5000, "+")],
    ["and", repeat("1", 2000, " and ")],
    ["filters", `1${"|lower".repeat(2000)}`],
    ["ternaries", `${"1 if 1 else ".repeat(1000)}1`],
    ["tests", `1${" is none".repeat(1500)}`],
  ])("refuses an expression that is nested too deeply: %s", (_name, expression) => {
    expect(quickly(() => message(`{{ ${expression} }}`))).toBe(
      "the expression is nested deeper than 64 levels",
    );
  });

  it("has room for what people write", () => {
    expect(message(`{{ ${repeat("'a'", 60, " ~ ")} }}`)).toBe("rendered");
    expect(message(`{{ [${repeat("1", 5000, ",")}] }}`)).toBe("rendered");
    expect(message(`{{ ${"(".repeat(60)}1${")".repeat(60)} }}`)).toBe("rendered");
  });
});
