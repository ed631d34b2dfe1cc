import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/fixtures.ts";
import { compile } from "../../core/dag/compile/compile.ts";
import type { Graph } from "../../core/dag/graph.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { taskQueues } from "../../core/queues.ts";
import { readWorkflow } from "./read-workflow.ts";

function compileText(text: string, workflowId = "example") {
  const { tree, findings } = readWorkflow(text);
  const options = {
    handlers: handlerCatalogue,
    queues: new Set(taskQueues),
    env: new Set<string>(),
  };
  const compiled = compile(tree, { ...options, workflowId });
  return { graph: compiled.graph, findings: [...findings, ...compiled.findings] };
}

function load(name: string): Graph {
  const file = fixture(`reference-workflows/${name}.yaml`);
  const { graph, findings } = compileText(readFileSync(file, "utf8"), name);
  expect(findings).toEqual([]);
  return graph!;
}

function edges(graph: Graph): string[] {
  return graph.nodes.flatMap((node) =>
    node.outgoing.map(({ to, branches }) =>
      [node.id, "→", to.id, ...(branches === undefined ? [] : [`[${branches.join()}]`])].join(" "),
    ),
  );
}

/** Handler and parameters of each task, as they are stored. */
function tasks(graph: Graph) {
  return Object.fromEntries(
    graph.nodes.flatMap(({ id, definition }) => {
      const task =
        definition.type === "task"
          ? definition
          : definition.type === "fan_out"
            ? definition.task
            : undefined;
      return task === undefined ? [] : [[id, [task.handler, task.params] as const] as const];
    }),
  );
}

const fileOf = (node: string) => `{{ nodes["${node}"].output.blob_path }}`;
const fromInputs = {
  blob_path: "{{ inputs.blob_path | default(inputs.blob_name | default(inputs.source_path)) }}",
  container: "{{ inputs.container | default(inputs.container_name | default(none)) }}",
};

describe("workflows of the reference architecture load as they stand", () => {
  it("all of them, without a finding", () => {
    const names = readdirSync(fixture("reference-workflows")).map((file) => path.parse(file).name);
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) load(name);
  });

  it("echo, with start and end written out and the job's inputs as parameters", () => {
    const graph = load("echo_test");
    expect(edges(graph)).toEqual(["start → echo_handler", "echo_handler → end"]);
    expect(tasks(graph)).toEqual({ echo_handler: ["echo", "{{ inputs }}"] });
  });

  it("queues by weight, with nothing around the two tasks", () => {
    const graph = load("queue_routing");
    expect(edges(graph)).toEqual(["@start → validate", "validate → process", "process → @end"]);
    expect(graph.definition.nodes).toMatchObject({
      validate: { queue: "functionapp-tasks" },
      process: { queue: "container-tasks" },
    });
    expect(tasks(graph)).toEqual({
      validate: ["raster.validate", fromInputs],
      process: ["raster.create_cog", { blob_path: fileOf("validate") }],
    });
  });

  it("a raster pipeline with inputs, other names of parameters, and routing by a field", () => {
    const graph = load("raster_processing");
    expect(graph.definition.version).toBe("1");
    expect(edges(graph)).toEqual([
      "START → validate",
      "validate → route_by_size",
      "route_by_size → process_fa [0]",
      "route_by_size → process_docker [1]",
      "process_fa → END",
      "process_docker → END",
    ]);
    expect(tasks(graph)["validate"]).toEqual([
      "raster.validate",
      { blob_path: "{{ inputs.blob_name }}", container: "{{ inputs.container_name }}" },
    ]);
  });

  it("a yes-or-no condition whose branches meet in any_of", () => {
    const graph = load("conditional_routing");
    expect(edges(graph)).toEqual([
      "@start → validate",
      "validate → route_by_size",
      "route_by_size → process_heavy [0]",
      "route_by_size → process_light [1]",
      "process_heavy → merge",
      "process_light → merge",
      "merge → @end",
    ]);
    expect(graph.byId.get("merge")!.join).toBe("any_of");
    expect(tasks(graph)["merge"]).toEqual([
      "finalize",
      { results: "{{ upstream.output | default(none) }}" },
    ]);
  });

  it("a fan-out and its fan-in", () => {
    const graph = load("fan_out_test");
    expect(edges(graph)).toEqual([
      "@start → prepare",
      "prepare → split",
      "split → aggregate",
      "aggregate → @end",
    ]);
    expect(graph.results.map((node) => node.id)).toEqual(["aggregate"]);
  });

  it("tiles for a large raster, one piece for a small one", () => {
    const graph = load("raster_tiled_processing");
    expect(edges(graph)).toEqual([
      "start → validate",
      "validate → route_by_size",
      "route_by_size → generate_tiles [0]",
      "route_by_size → process_direct [1]",
      "generate_tiles → process_tiles",
      "process_direct → finalize",
      "process_tiles → merge_tiles",
      "merge_tiles → finalize",
      "finalize → end",
    ]);
    expect(tasks(graph)).toMatchObject({
      generate_tiles: [
        "raster.generate_tiling_scheme",
        { blob_path: fileOf("validate"), tile_size_mb: 50 },
      ],
      process_tiles: ["raster.process_tile", { blob_path: fileOf("validate"), tile: "{{ item }}" }],
      finalize: [
        "raster.stac_register",
        {
          collection_id: "{{ inputs.collection_id }}",
          blob_path: "{{ upstream.output.blob_path | default(none) }}",
          tiles: "{{ upstream.output.results | default(none) }}",
        },
      ],
    });
  });

  it.each([
    ["retry_fixed", { max_attempts: 5, backoff: "fixed", initial_delay_seconds: 1 }, 30],
    [
      "retry_exponential",
      { max_attempts: 3, backoff: "exponential", initial_delay_seconds: 5, max_delay_seconds: 300 },
      7200,
    ],
  ])("the retry policy of %s", (name, retry, timeout_seconds) => {
    const graph = load(name);
    expect(edges(graph)).toEqual(["@start → process", "process → @end"]);
    expect(graph.definition.nodes["process"]).toMatchObject({ timeout_seconds, retry });
  });

  it("a pipeline of a user's own, which hands its file from task to task", () => {
    const graph = load("my_custom_pipeline");
    expect(edges(graph)).toEqual([
      "@start → validate",
      "validate → reproject",
      "reproject → clip",
      "clip → analyze",
      "analyze → @end",
    ]);
    expect(tasks(graph)).toMatchObject({
      clip: [
        "raster_clip",
        {
          blob_path: `{{ nodes["reproject"].output.blob_path | default(nodes["validate"].output.blob_path) }}`,
        },
      ],
      analyze: ["stats_zonal", { zones: "{{ inputs.zones }}" }],
    });
  });
});

describe("other names", () => {
  const findings = (text: string) =>
    compileText(text).findings.map(({ code, path: at, message }) => [code, at.join("."), message]);

  it("of parameters are checked like their own, and errors stand at the name that is written", () => {
    expect(
      findings("nodes: {v: {handler: raster_validate, params: {blob_name: 3, output_tier: best}}}"),
    ).toEqual([
      ["WRONG_PARAMETER", "nodes.v.params.blob_name", expect.stringContaining("expected text")],
      ["WRONG_PARAMETER", "nodes.v.params.output_tier", expect.stringContaining("must be")],
    ]);
  });

  it("are refused beside the name that they stand for", () => {
    expect(
      findings("nodes: {v: {handler: raster.validate, params: {blob_name: a, blob_path: b}}}"),
    ).toEqual([["UNKNOWN_PARAMETER", "nodes.v.params.blob_name", expect.anything()]]);
  });

  it("are all understood at once", () => {
    const text = `
nodes:
  v:
    handler: raster_validate
    params:
      {local_path: /mnt/a.tif, storage_account: acc, input_crs: "EPSG:4326", raster_type: auto,
       output_tier: archive}`;
    const { graph, findings: found } = compileText(text);
    expect(found).toEqual([]);
    expect(tasks(graph!)["v"]).toEqual([
      "raster.validate",
      { blob_path: "/mnt/a.tif", source_crs: "EPSG:4326", raster_type: null, tier: "archive" },
    ]);
  });

  it("do not hide a parameter that nothing gives", () => {
    expect(findings("inputs: {name: {}}\nnodes: {v: {handler: raster_validate}}")).toEqual([
      ["MISSING_PARAMETER", "nodes.v", expect.stringContaining('"blob_path" is missing')],
    ]);
  });
});
