import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../model/json.ts";
import type { Rendered } from "./template.ts";
import { parseTemplate, render } from "./template.ts";

function attempt(
  source: string,
  inputs: JsonObject = { x: {}, list: [1], s: "text", n: 1 },
): Rendered {
  const parsed = parseTemplate(source);
  if (!parsed.ok) return { ok: false, message: parsed.problems[0]?.message ?? "", at: [] };
  return render(parsed.template, { inputs, job: {}, env: {}, node: () => undefined });
}

const builtins = [
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__defineGetter__",
  "__lookupGetter__",
  "items",
  "keys",
  "values",
  "get",
  "length",
  "map",
  "then",
  "toJSON",
];

describe("names of methods and prototypes", () => {
  it.each(builtins)("%s is undefined where the data has no such key", (name) => {
    for (const base of [
      "inputs",
      "inputs.x",
      "inputs.list",
      "inputs.s",
      "inputs.n",
      "job",
      "env",
      "''",
      "[]",
      "{}",
      "true",
    ]) {
      expect(attempt(`{{ ${base}.${name} is defined }}`)).toStrictEqual({ ok: true, value: false });
      expect(attempt(`{{ ${base}["${name}"] is defined }}`)).toStrictEqual({
        ok: true,
        value: false,
      });
      expect(attempt(`{{ ${base}.${name} }}`).ok).toBe(false);
    }
    expect(attempt(`{{ inputs["con" ~ "structor"] }}`).ok).toBe(false);
    expect(attempt(`{{ "${name}" in inputs.x }}`)).toStrictEqual({ ok: true, value: false });
    expect(attempt(`{{ ${name} }}`).ok).toBe(false);
  });

  it.each(builtins)("%s is data where the data has it", (name) => {
    const x = JSON.parse(`{"${name}": {"${name}": 1}}`) as Json;
    expect(attempt(`{{ inputs.x.${name}.${name} }}`, { x })).toStrictEqual({ ok: true, value: 1 });
    expect(attempt(`{{ inputs.x["${name}"]["${name}"] }}`, { x })).toStrictEqual({
      ok: true,
      value: 1,
    });
    const whole = attempt("{{ inputs.x }}", { x });
    expect(JSON.stringify(whole.ok && whole.value)).toBe(JSON.stringify(x));
  });

  it("never reaches a getter of a prototype", () => {
    class Trap {
      readonly own = 1;
      get secret(): string {
        throw new Error("reached");
      }
    }
    const x = new Trap() as unknown as JsonObject;
    expect(attempt("{{ inputs.x.secret | default('safe') }}", { x })).toStrictEqual({
      ok: true,
      value: "safe",
    });
  });

  it("builds an object literal with __proto__ as a plain key", () => {
    const result = attempt("{{ {'__proto__': {'polluted': 1}} }}");
    expect(result.ok && JSON.stringify(result.value)).toBe('{"__proto__":{"polluted":1}}');
    expect(result.ok && Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });
});

describe("escapes", () => {
  it.each([
    "{{ inputs.constructor.constructor('return process')() }}",
    '{{ inputs["constructor"]["constructor"]("return process")() }}',
    "{{ ''.constructor.constructor('return process')() }}",
    "{{ [].constructor.constructor('return process')() }}",
    "{{ range.constructor('return process')() }}",
    "{{ range(1000000000) }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ self._TemplateReference__context }}",
    "{{ inputs.__proto__ }}",
    "{{ inputs['__proto__']['polluted'] }}",
    "{{ inputs|attr('constructor') }}",
    "{{ inputs | map(attribute='constructor') }}",
    "{{ inputs.list | map('constructor') }}",
    "{{ inputs.s.replace('t', 'x') }}",
    "{{ inputs.x.get('constructor') }}",
    "{{ inputs.items() }}",
    "{{ (inputs.constructor)() }}",
    "{{ inputs['constructor']() }}",
    "{{ namespace(a=1) }}",
    "{{ loop.index }}",
    "{{ joiner() }}",
    "{{ lipsum() }}",
    "{{ globalThis }}",
    "{{ process.env }}",
    "{{ this.constructor }}",
    "{{ scope.context }}",
    "{{ import('fs') }}",
    "{{ `${process}` }}",
    "{{ 1 if inputs.constructor else 2 }}",
    "{{ inputs.x.constructor = 1 }}",
    "{% set inputs.__proto__.x = 1 %}",
    "{% for x in range(10) %}{{ x }}{% endfor %}",
    "{% macro m() %}{% endmacro %}{{ m() }}",
    "{% include '/etc/passwd' %}",
    "{%- set x = 1 -%}",
    "{# comment #}{{ 1 }}",
    "{{ caller() }}",
    "{{ inputs.s|filter('constructor') }}",
    "{{ inputs.s is callable }}",
    "{{ nodes.constructor.output }}",
    "{{ nodes.__proto__ }}",
    "{{ env.constructor }}",
    "{{ env.__proto__.PATH }}",
  ])("refuses %s", (source) => {
    const result = attempt(source);
    expect(result.ok).toBe(false);
    expect(result.ok ? "" : result.message).not.toContain("broke off");
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
