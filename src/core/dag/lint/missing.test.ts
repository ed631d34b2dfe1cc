import { describe, expect, it } from "vitest";
import { handlerCatalogue } from "../../handlers/index.ts";
import { taskQueues } from "../../queues.ts";
import { compile } from "../compile/compile.ts";

function warnings(nodes: object, more: object = {}): string[] {
  const { findings } = compile(
    { nodes, ...more },
    {
      handlers: handlerCatalogue,
      queues: new Set(taskQueues),
      env: new Set<string>(),
      workflowId: "test",
    },
  );
  return findings.map(({ code, path }) => `${code} ${path.join(".")}`);
}

const reads = (template: string, rest: object = {}) => ({
  handler: "echo",
  params: { x: `{{ ${template} }}` },
  ...rest,
});
const choice = { type: "conditional", condition: "1 == 1" };
const skipped = (node: string) => `MAY_BE_SKIPPED nodes.${node}.params.x`;

describe("reading a node that may be skipped", () => {
  const branched = {
    c: { ...choice, on_true: "yes", on_false: "no" },
    yes: { handler: "echo", next: "join" },
    no: { handler: "echo", next: "join" },
  };

  it("is warned about behind a branch, and in the outputs", () => {
    const nodes = { ...branched, join: reads("nodes.yes.output.a") };
    const outputs = { y: "{{ nodes.no.output }}", j: "{{ nodes.join.output }}" };
    expect(warnings(nodes, { outputs })).toEqual([skipped("join"), "MAY_BE_SKIPPED outputs.y"]);
  });

  it.each([
    "nodes.yes.output.a | default(1)",
    "nodes.yes.status",
    "nodes.yes.output.a if nodes.yes.status == 'completed' else 1",
    "nodes.yes.output.a if nodes.yes.output is defined else 1",
    "nodes.c.output.branch",
  ])("is not warned about when %s allows for it", (template) => {
    expect(warnings({ ...branched, join: reads(template) })).toEqual([]);
  });

  it("is fine within the branch, also through several nodes and joins", () => {
    const nodes = {
      c: { ...choice, on_true: "a", on_false: "END" },
      a: { handler: "echo", next: ["b", "d"] },
      b: { handler: "echo", next: "e" },
      d: { handler: "echo", next: "e" },
      e: reads("nodes.b.output", { next: "f" }),
      f: reads("nodes.a.output"),
    };
    expect(warnings(nodes)).toEqual([]);
  });

  it("is fine behind a join of all branches, and warned about with a branch left out", () => {
    const nodes = {
      c: { ...choice, on_true: "yes", on_false: "no" },
      yes: { handler: "echo", next: "both" },
      no: { handler: "echo", next: "both" },
      both: { handler: "echo", next: "end" },
      end: reads("nodes.both.output"),
    };
    expect(warnings(nodes, { outputs: { o: "{{ nodes.both.output }}" } })).toEqual([]);
    const without = { ...nodes, no: { handler: "echo" } };
    expect(warnings(without, { outputs: { o: "{{ nodes.both.output }}" } })).toEqual([
      "MAY_BE_SKIPPED outputs.o",
    ]);
  });

  it("is warned about for an outer branch and fine for an inner one", () => {
    const nodes = {
      outer: { ...choice, on_true: "a", on_false: "z" },
      a: { handler: "echo", next: "inner" },
      inner: { ...choice, on_true: "b" },
      b: reads("nodes.a.output"),
      z: { handler: "echo", next: "last" },
      last: reads("nodes.b.output", { depends_on: "b" }),
    };
    expect(warnings(nodes)).toEqual([skipped("last")]);
  });

  it("is warned about when any_of does not wait for it", () => {
    const nodes = {
      a: { handler: "echo" },
      b: { handler: "echo" },
      c: reads("nodes.a.output", { depends_on: { any_of: ["a", "b"] } }),
    };
    expect(warnings(nodes)).toEqual([skipped("c")]);
  });

  it("stays quick with hundreds of conditionals", () => {
    const nodes: Record<string, object> = { end: reads("nodes.n0.output") };
    for (let each = 0; each < 500; each++) {
      nodes[`c${each}`] = { ...choice, on_true: `n${each}`, on_false: `c${each + 1}` };
      nodes[`n${each}`] = { handler: "echo", next: "end" };
    }
    nodes["c500"] = { handler: "echo", next: "end" };
    const began = performance.now();
    warnings(nodes);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe("reading an optional input", () => {
  const inputs = { a: {}, b: { default: 1, type: "integer" }, c: { required: true } };

  it("is warned about unless it has a default or the template allows for absence", () => {
    const found = warnings(
      {
        n: reads("inputs.a"),
        m: reads("inputs.b + 1"),
        o: reads("inputs.c"),
        p: reads("inputs.a | default('')"),
        q: reads("inputs.a if inputs.a is defined else 2"),
      },
      { inputs },
    );
    expect(found).toEqual(["MAY_BE_MISSING nodes.n.params.x"]);
  });

  it("is fine when a conditional asks whether it is there", () => {
    const nodes = {
      c: { type: "conditional", condition: "{{ inputs.a is defined }}", on_true: "n" },
      n: reads("inputs.a"),
    };
    expect(warnings(nodes, { inputs })).toEqual([]);
  });
});

describe("one mistake", () => {
  it("in a template does not hide wrong references beside it", () => {
    const nodes = {
      a: { handler: "echo", params: { x: "{{ 1 + }} {{ nodes.nope.output }}" } },
      b: { type: "conditional", condition: "{{ nodes.nix.output }} >> 3", on_true: "END" },
    };
    expect(warnings(nodes).map((each) => each.split(" ")[0])).toEqual([
      "TEMPLATE_SYNTAX",
      "CONDITION_SYNTAX",
      "UNKNOWN_NODE",
      "UNKNOWN_NODE",
    ]);
  });

  const chain: Record<string, object> = { go: { type: "start", next: "c" } };
  for (let each = 0; each < 35; each++) {
    const before = each === 0 ? {} : { x: `{{ nodes.n${each - 1}.output | default(1) }}` };
    chain[`n${each}`] = { handler: "echo", params: before, next: `n${each + 1}` };
  }
  chain["n35"] = { handler: "echo" };
  it.each<[string, object]>([
    ["is a mapping", { branches: { one: { condition: "== 1", next: "n0" } } }],
    ["misspells next", { branches: [{ default: true, nxt: "n0" }] }],
    ["is misspelt", { branchs: [{ default: true, next: "n0" }] }],
    ["holds text", { branches: ["n0"] }],
  ])("in branches, which %s, brings few findings", (_, wrong) => {
    const c = { type: "conditional", condition_field: "{{ job.job_id }}", ...wrong };
    const found = warnings({ ...chain, c });
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(3);
  });
});
