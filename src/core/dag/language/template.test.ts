import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../model/json.ts";
import type { TemplateContext } from "./expression/scope.ts";
import type { Template } from "./template.ts";
import { parseTemplate, render } from "./template.ts";

const nodes = new Map<string, JsonObject>([
  ["validate", { status: "completed", output: { file_size: 5, crs: "EPSG:4326" } }],
  ["a-b", { status: "skipped", output: {} }],
]);

nodes.set("left-out", { status: "skipped" });
nodes.set("later", { status: "running" });

function contextWith(inputs: JsonObject, rest: Partial<TemplateContext> = {}): TemplateContext {
  return {
    inputs,
    job: { job_id: "j1" },
    env: { REGION: "north" },
    node: (id) => nodes.get(id),
    ...rest,
  };
}

function parsed(value: Json): Template {
  const result = parseTemplate(value);
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join("; "));
  return result.template;
}

function rendered(value: Json, inputs: JsonObject = {}, rest?: Partial<TemplateContext>): Json {
  const result = render(parsed(value), contextWith(inputs, rest));
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function failure(value: Json, inputs: JsonObject = {}): string {
  const result = render(parsed(value), contextWith(inputs));
  if (result.ok) throw new Error(`rendered ${JSON.stringify(result.value)}`);
  return result.message;
}

function problems(value: Json): string[] {
  const result = parseTemplate(value);
  if (result.ok) throw new Error(`parsed ${JSON.stringify(value)}`);
  return result.problems.map(({ message, at, offset }) => `${at.join(".")}:${offset} ${message}`);
}

describe("a string that is one expression", () => {
  it.each<Json>([null, true, false, 0, -1.5, "", "text", [], [1, [2]], {}, { a: { b: null } }])(
    "keeps the type of %j",
    (x) => {
      expect(rendered("{{ inputs.x }}", { x })).toStrictEqual(x);
      expect(rendered("\n  {{inputs.x}} ", { x })).toStrictEqual(x);
    },
  );

  it("reaches every root of the context", () => {
    const tree = {
      node: "{{ nodes.validate.output.crs }}",
      status: "{{ nodes['a-b'].status }}",
      job: "{{ job.job_id }}",
      env: "{{ env.REGION }}",
      item: "{{ item.tile }}",
      index: "{{ index }}",
    };
    expect(rendered(tree, {}, { item: { tile: 7 }, index: 3 })).toStrictEqual({
      node: "EPSG:4326",
      status: "skipped",
      job: "j1",
      env: "north",
      item: 7,
      index: 3,
    });
    expect(rendered("{{ item }}", {}, { item: null, index: 0 })).toBeNull();
  });
});

describe("mixed text", () => {
  it("writes scalars plainly and lists and objects as JSON", () => {
    const inputs = { s: "x", n: 1.5, b: true, l: [1, "a"], o: { k: null } };
    expect(
      rendered("{{inputs.s}}|{{inputs.n}}|{{inputs.b}}|{{inputs.l}}|{{inputs.o}}", inputs),
    ).toBe('x|1.5|true|[1,"a"]|{"k":null}');
  });

  it("joins expressions that touch", () => {
    expect(rendered("{{ 1 }}{{ 2 }}")).toBe("12");
  });

  it("refuses null and says what to do", () => {
    expect(failure("a {{ inputs.x }}", { x: null })).toContain("default('', true)");
    expect(rendered("a {{ inputs.x | default('', true) }}", { x: null })).toBe("a ");
  });
});

describe("what is and is not a template", () => {
  it.each(["", "plain", "{ }", "}}", "{a}", "{%Y}", "{#fff}", "100 %}", "$" + "{x}"])(
    "leaves %j as it is",
    (text) => {
      expect(rendered(text)).toBe(text);
    },
  );

  it.each([
    ["{{ '}}' }}", "}}"],
    ['{{ "{{" }}', "{{"],
    ["{{ '{% set x = 1 %}' }}", "{% set x = 1 %}"],
    ["{{ '{% generation %}' }}", "{% generation %}"],
    ["{{ '\\'}}\\\\' }}", "'}}\\"],
    ["${{ 1 }}", "$1"],
    ["{{{'a': 1}}}", { a: 1 }],
    ["{{ {'a': {'b': {}}}}}", { a: { b: {} } }],
    ["{ {{ 1 }} }", "{ 1 }"],
    ["{{ 'é😀' ~ '\\n' }}", "é😀\n"],
  ])("reads %j", (text, value) => {
    expect(rendered(text)).toStrictEqual(value);
  });

  it("never templates keys", () => {
    expect(rendered({ "{{ inputs.x }}": "{{ inputs.x }}" }, { x: 1 })).toStrictEqual({
      "{{ inputs.x }}": 1,
    });
  });

  it("inserts a value once, even one that looks like a template", () => {
    const x = "{{ env.REGION }}";
    expect(rendered(["{{ inputs.x }}", "a {{ inputs.x }}"], { x })).toStrictEqual([x, `a ${x}`]);
  });

  it("returns trees without expressions as they are", () => {
    const tree = { deep: [{ a: 1 }] };
    expect(rendered(tree)).toBe(tree);
    expect((rendered({ tree, x: "{{ 1 }}" }) as { tree: Json }).tree).toBe(tree);
  });

  it("keeps __proto__ a key like any other", () => {
    const tree = JSON.parse('{"__proto__": {"polluted": "{{ 1 }}"}, "a": 1}') as JsonObject;
    const result = rendered(tree) as JsonObject;
    expect(Object.keys(result)).toStrictEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1},"a":1}');
    expect("polluted" in {}).toBe(false);
  });
});

describe("problems", () => {
  it.each([
    ["{{ x", ":0 {{ is never closed with }}"],
    ["abc {{ x }", ":4 {{ is never closed with }}"],
    ["a {{ 'x }} b", ":5 the string is never closed with '"],
    ["{{ }}", ":0 the braces hold no expression"],
    ["ab {{}}", ":3 the braces hold no expression"],
    ["{{ 1 + }}", ":7 the expression ends too early"],
    ["{{ 1 + * 2 }}", ":7 unexpected *"],
    ["a {% set x = 1 %}", ":2 statements {% %} are not available, only {{ expressions }}"],
    ["{{ 1 }}{% if x %}", ":7 statements {% %} are not available, only {{ expressions }}"],
    ["{% if {{ 1 }} %}", ":0 statements {% %} are not available, only {{ expressions }}"],
    ["{# no #}{{ 1 }}", ":0 comments {# #} are not available in a template"],
  ])("places the problem of %j", (text, problem) => {
    expect(problems(text)).toStrictEqual([problem]);
  });

  it.each(["{{-1}}", "{{- 1 }}", "{{ 1 -}}", "{{+1}}"])(
    "refuses white space control: %s",
    (text) => {
      expect(problems(text)[0]).toContain("{{- and -}} are not available");
    },
  );

  it("reports every string, and every expression of a string", () => {
    expect(problems({ a: ["{{ f() }} {{ 1 2 }}"], b: "{{ x | nope }}" })).toStrictEqual([
      "a.0:3 there are no functions or methods to call",
      "a.0:15 an operator or a comma is missing before 2",
      "b:7 there is no filter nope; known are default, d, length, count, range, lower, upper, join, tojson, int, float",
    ]);
  });

  it("refuses a long string and a deep tree", () => {
    expect(problems(`{{ 1 }}${" ".repeat(16_384)}`)[0]).toContain("may have 16384 characters");
    let deep: Json = "{{ 1 }}";
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(problems(deep)[0]).toContain("nested deeper than 64 levels");
  });
});

describe("references", () => {
  function references(value: Json): string[] {
    return parsed(value).references.map(
      ({ root, path, at, offset, optional }) =>
        `${at.join("/")}:${offset} ${root}${JSON.stringify(path)}${optional ? "?" : ""}`,
    );
  }

  it("names root, path and place in the order of the source", () => {
    expect(
      references({
        a: ["x {{ inputs.b[0]['c d'][-1] }} {{ nodes.validate.output.size }}"],
        b: "{{ foo }}",
      }),
    ).toStrictEqual([
      'a/0:5 inputs["b",0,"c d",-1]',
      'a/0:34 nodes["validate","output","size"]',
      "b:3 foo[]",
    ]);
  });

  it("ends the path at the first computed member and lists what computes it", () => {
    expect(references("{{ inputs.a[inputs.b].c }}")).toStrictEqual([
      ':3 inputs["a"]',
      ':12 inputs["b"]',
    ]);
  });

  it("marks what may be absent", () => {
    expect(references("{{ inputs.a | default(inputs.b) }}")).toStrictEqual([
      ':3 inputs["a"]?',
      ':22 inputs["b"]',
    ]);
    expect(references("{{ inputs.a is defined and inputs.b is not undefined }}")).toStrictEqual([
      ':3 inputs["a"]?',
      ':27 inputs["b"]?',
    ]);
    expect(references("{{ (inputs.a if inputs.b else inputs.c) | d }}")).toStrictEqual([
      ':4 inputs["a"]?',
      ':16 inputs["b"]',
      ':30 inputs["c"]?',
    ]);
    expect(references("{{ (inputs.a ~ 'x') | default('y') }}")).toStrictEqual([':4 inputs["a"]']);
  });

  it("reads keywords behind a dot as names", () => {
    expect(references("{{ inputs.in.not.if }}")).toStrictEqual([':3 inputs["in","not","if"]']);
  });
});

describe("for any JSON", () => {
  const jsonWithout = (parts: readonly string[]): fc.Arbitrary<Json> =>
    (fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<Json>).filter((value) => {
      const text = JSON.stringify(value);
      return parts.every((part) => !text.includes(part));
    });

  it("gives back a tree without expressions", () => {
    fc.assert(
      fc.property(jsonWithout(["{{", "{%", "{#"]), (value) => {
        expect(rendered(value)).toStrictEqual(value);
      }),
    );
  });

  it("gives an input exactly as it came in", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<Json>, (x) => {
        expect(rendered({ a: ["{{ inputs.x }}"] }, { x })).toStrictEqual({ a: [x] });
      }),
    );
  });

  it("never throws, whatever the author writes", () => {
    const fragments = fc.constantFrom(
      ..."{{ }} { } [ ] ( ) ' \" \\ . , : | ~ + - * / // % ** == != < > = in not and or if else is".split(
        " ",
      ),
      ..." inputs nodes.a item 0 1.5 default(1) length constructor __proto__ {% %} {# #}".split(
        " ",
      ),
    );
    const source = fc.oneof(
      fc.string(),
      fc.array(fragments, { maxLength: 30 }).map((words) => `{{ ${words.join(" ")} }}`),
      fc.array(fragments, { maxLength: 30 }).map((words) => words.join("")),
    );
    fc.assert(
      fc.property(source, fc.dictionary(fc.string(), fc.jsonValue()), (text, inputs) => {
        const result = parseTemplate(text);
        if (!result.ok) {
          for (const { offset } of result.problems) {
            expect(offset).toBeGreaterThanOrEqual(0);
            expect(offset).toBeLessThanOrEqual(text.length);
          }
          return;
        }
        const output = render(result.template, contextWith(inputs as JsonObject));
        expect(output.ok ? output.value : output.message).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the output of a node that has none", () => {
  it("is told with the reason, and default allows for it", () => {
    expect(failure("{{ nodes['left-out'].output.x }}")).toMatch(/was skipped and has no output/);
    expect(failure("{{ nodes.later.output }}")).toBe(
      "nodes.later is running and has no output yet",
    );
    expect(rendered("{{ nodes['left-out'].output.x | default(7) }}")).toBe(7);
  });
});
