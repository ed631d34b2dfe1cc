import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { handlerCatalogue } from "../../handlers/index.ts";
import { taskQueues } from "../../queues.ts";
import { compile, compileDefinition } from "./compile.ts";
import type { Graph } from "../graph.ts";

const options = {
  handlers: handlerCatalogue,
  queues: new Set(taskQueues),
  env: new Set<string>(),
  workflowId: "test",
};

const echo = { handler: "echo" };

function graphOf(nodes: object): Graph {
  const { findings, graph } = compile({ nodes }, options);
  expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
  return graph!;
}

function edges(graph: Graph): string[] {
  return graph.nodes.flatMap((node) => node.outgoing.map((edge) => `${node.id} → ${edge.to.id}`));
}

function codes(nodes: object): string[] {
  return compile({ nodes }, options).findings.map((finding) => finding.code);
}

describe("edges", () => {
  it("run from the implied start to the implied end", () => {
    const graph = graphOf({ a: { ...echo, next: "b" }, b: echo, c: echo });
    expect(edges(graph)).toEqual(["@start → a", "@start → c", "a → b", "c → @end", "b → @end"]);
    expect(graph.nodes.map((node) => node.position)).toEqual([0, 1, 2, 3, 4]);
  });

  it("are the same however they are written", () => {
    const byNext = edges(graphOf({ a: { ...echo, next: ["b", "c"] }, b: echo, c: echo }));
    const all = { ...echo, depends_on: { all_of: ["a"] } };
    expect(edges(graphOf({ a: echo, b: { ...echo, depends_on: "a" }, c: all }))).toEqual(byNext);
    const list = { ...echo, depends_on: ["a"] };
    expect(edges(graphOf({ a: { ...echo, next: ["b"] }, b: list, c: list }))).toEqual(byNext);
  });

  it.each(["END", "end", "End"])("lead to the implied end by the name %s", (name) => {
    expect(edges(graphOf({ a: { ...echo, next: name } }))).toEqual(["@start → a", "a → @end"]);
  });

  it("lead from the implied start by the name START", () => {
    const graph = graphOf({ a: { ...echo, depends_on: "START" } });
    expect(edges(graph)).toEqual(["@start → a", "a → @end"]);
  });

  it("prefer a node that is really called END, and spell an explicit end exactly", () => {
    const graph = graphOf({ a: { ...echo, next: "END" }, END: echo });
    expect(edges(graph)).toEqual(["@start → a", "a → END", "END → @end"]);
    expect(codes({ a: { ...echo, next: "END" }, finish: { type: "end" } })).toEqual([
      "UNKNOWN_NODE",
    ]);
  });

  it("name the branches of a conditional that take them", () => {
    const graph = graphOf({
      c: {
        type: "conditional",
        condition_field: "{{ inputs.size }}",
        branches: [
          { condition: "< 1", next: "a" },
          { condition: "< 2", next: ["b", "a"] },
          { default: true, next: [] },
        ],
      },
      a: echo,
      b: echo,
      always: { ...echo, depends_on: "c" },
    });
    const { outgoing } = graph.byId.get("c")!;
    expect(outgoing.map((edge) => [edge.to.id, edge.branches])).toEqual([
      ["a", [0, 1]],
      ["b", [1]],
      ["always", undefined],
    ]);
  });

  it("turn on_true without on_false into a default branch that leads nowhere", () => {
    const graph = graphOf({
      c: { type: "conditional", condition: "{{ inputs.x }} == 1", on_true: "a" },
      a: echo,
    });
    expect(graph.byId.get("c")!.definition).toEqual({
      type: "conditional",
      branches: [{ condition: "{{ inputs.x }} == 1", next: ["a"] }, { next: [] }],
    });
  });

  it("join as any_of over all of them when one is named in any_of", () => {
    const graph = graphOf({
      a: { ...echo, next: "c" },
      b: echo,
      c: { ...echo, depends_on: { any_of: ["b"] } },
    });
    const { join, incoming } = graph.byId.get("c")!;
    expect([join, incoming.map((edge) => edge.from.id)]).toEqual(["any_of", ["a", "b"]]);
  });
});

describe("a definition", () => {
  const tree = {
    nodes: {
      zebra: { handler: "raster.validate", params: { blob_path: "a.tif" }, next: "split" },
      split: { type: "fan_out", source: [1, 2], task: { handler: "echo" }, next: "gather" },
      gather: { type: "fan_in" },
      ant: { handler: "echo", depends_on: "zebra", retry: { max_attempts: 0 } },
    },
  };

  it("holds everything that a job needs, whatever later becomes of the catalogue", () => {
    const { definition } = compile(tree, options);
    const retry = {
      max_attempts: 3,
      backoff: "exponential",
      initial_delay_seconds: 5,
      max_delay_seconds: 300,
      jitter: true,
    };
    expect(definition).toMatchObject({
      workflow_id: "test",
      name: "test",
      version: "1",
      nodes: {
        "@start": { type: "start", next: ["zebra"] },
        zebra: { type: "task", queue: "container-tasks", timeout_seconds: 3600, retry },
        split: { task: { queue: "functionapp-tasks", timeout_seconds: 300, retry } },
        ant: { retry: { ...retry, max_attempts: 0 } },
        "@end": { type: "end", depends_on: { mode: "all_of", nodes: ["gather", "ant"] } },
      },
    });
  });

  it("gives the same graph from storage, which does not keep the order of keys", () => {
    const { definition, graph } = compile(tree, options);
    const stored = JSON.parse(JSON.stringify(definition)) as NonNullable<typeof definition>;
    const nodes = Object.fromEntries(Object.entries(stored.nodes).reverse());
    const again = compileDefinition({ ...stored, nodes });
    expect(again.nodes.map((node) => node.id)).toEqual(graph!.nodes.map((node) => node.id));
    expect(edges(again)).toEqual(edges(graph!));
  });

  it("has as its results the tasks and fan-ins that no other follows", () => {
    const { graph } = compile(tree, options);
    expect(graph!.results.map((node) => node.id)).toEqual(["ant", "gather"]);
  });
});

describe("compile", () => {
  it("reports one cycle once and still judges the rest", () => {
    expect(
      codes({
        a: { ...echo, next: "b" },
        b: { ...echo, next: "a" },
        c: { ...echo, depends_on: "b", params: { v: "{{ nodes.a.output }}" } },
        d: { handler: "none" },
      }),
    ).toEqual(["CYCLE", "UNKNOWN_HANDLER"]);
  });

  it("does not call unreachable what a misspelt name was meant to reach", () => {
    expect(codes({ s: { type: "start", next: "proces" }, process: echo })).toEqual([
      "UNKNOWN_NODE",
    ]);
  });

  it("treats names such as constructor and toString as names", () => {
    const graph = graphOf({ constructor: { ...echo, next: "toString" }, toString: echo });
    expect(edges(graph)).toEqual([
      "@start → constructor",
      "constructor → toString",
      "toString → @end",
    ]);
    expect(codes({ a: { ...echo, next: "hasOwnProperty" } })).toEqual(["UNKNOWN_NODE"]);
    expect(codes({ a: { handler: "valueOf" } })).toEqual(["UNKNOWN_HANDLER"]);
    expect(codes({ a: { type: "constructor" } })).toEqual(["WRONG_VALUE"]);
    expect(
      codes(JSON.parse('{"a":{"handler":"echo","params":{"__proto__":1}}}') as object),
    ).toEqual(["WRONG_VALUE"]);
  });

  it("knows ancestors across far distances and refuses a neighbour on another branch", () => {
    const far = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [
        `n${index}`,
        {
          ...echo,
          next: index < 99 ? `n${index + 1}` : "END",
          params: index > 40 ? { v: `{{ nodes.n${index - 40}.status }}` } : {},
        },
      ]),
    );
    expect(codes(far)).toEqual([]);
    expect(
      codes({
        ...far,
        side: { ...echo, depends_on: "n3", params: { v: "{{ nodes.n4.status }}" } },
      }),
    ).toEqual(["NOT_AN_ANCESTOR"]);
  });

  it("refuses a tree whose shared parts stand for too many values", () => {
    let shared: unknown = [1];
    for (let level = 0; level < 30; level++) shared = [shared, shared];
    const { findings } = compile({ nodes: { a: { ...echo, params: { shared } } } }, options);
    expect(findings.map((finding) => finding.code)).toEqual(["TOO_LARGE"]);
  });

  it("compiles a chain of 50,000 nodes", { timeout: 60_000 }, () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, index) => [
        `n${index}`,
        { ...echo, next: index < 49_999 ? `n${index + 1}` : "END" },
      ]),
    );
    expect(graphOf(nodes).nodes.length).toBe(50_002);
  });
});

/** Trees that look like workflows and go wrong anywhere. */
const name = fc.constantFrom("a", "b", "c", "END", "__proto__", "constructor", "");
const anyValue = fc.jsonValue({ maxDepth: 3 });
const field = fc.oneof({ weight: 3, arbitrary: fc.oneof(name, fc.array(name)) }, anyValue);
const text = fc.oneof(fc.constant("{{ nodes.a.output }}"), fc.constant("< 3"), fc.string());
const node = fc.oneof(
  { weight: 1, arbitrary: anyValue },
  {
    weight: 8,
    arbitrary: fc.record(
      {
        type: fc.constantFrom("start", "end", "task", "conditional", "fan_out", "fan_in", 3),
        handler: fc.oneof(fc.constantFrom("echo", "sleep", "raster.validate"), anyValue),
        params: fc.oneof(fc.dictionary(fc.string(), text), anyValue),
        next: field,
        depends_on: fc.oneof(field, fc.record({ any_of: field })),
        condition: text,
        condition_field: text,
        on_true: field,
        branches: fc.oneof(
          fc.array(fc.record({ condition: text, next: field }, { requiredKeys: [] })),
          anyValue,
        ),
        source: text,
        task: fc.record({ handler: fc.constant("echo"), params: anyValue }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
  },
);
const workflow = fc.record(
  {
    workflow_id: fc.oneof(name, anyValue),
    inputs: fc.oneof(fc.dictionary(name, anyValue), anyValue),
    nodes: fc.oneof(fc.dictionary(name, node), anyValue),
    outputs: anyValue,
  },
  { requiredKeys: [] },
);

describe("compile is total", () => {
  it("answers any tree, with a graph exactly when nothing is an error", () => {
    fc.assert(
      fc.property(fc.oneof(workflow, fc.jsonValue(), fc.anything()), (tree) => {
        const { findings, graph } = compile(tree, options);
        const failed = findings.some((finding) => finding.severity === "error");
        expect(graph === undefined).toBe(failed);
      }),
      { numRuns: 2000 },
    );
  });
});
