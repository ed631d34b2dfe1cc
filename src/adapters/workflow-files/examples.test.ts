import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compile } from "../../core/dag/compile/compile.ts";
import type { Graph } from "../../core/dag/compile/graph.ts";
import { defineContract, handlerCatalogue } from "../../core/handlers/index.ts";
import { queueFor, taskQueues } from "../../core/queues.ts";
import { readWorkflow } from "./read-workflow.ts";

/** Handlers of the existing platform that its workflows name. */
const existing = [
  "raster_validate",
  "raster_cog_docker",
  "raster.process",
  "raster.stac_register",
  "stats_zonal",
  "finalize",
].map((name) => {
  const anything = z.record(z.string(), z.json());
  const contract = { name, description: name, params: anything, result: anything };
  return defineContract({ ...contract, queue: queueFor.heavy, timeout_seconds: 3600 });
});
const handlers = new Map([
  ...handlerCatalogue,
  ...existing.map((contract) => [contract.name, contract] as const),
]);

function load(text: string): Graph {
  const { tree, findings } = readWorkflow(text);
  const options = { handlers, queues: new Set(taskQueues), env: new Set<string>() };
  const compiled = compile(tree, { ...options, workflowId: "example" });
  expect([...findings, ...compiled.findings]).toEqual([]);
  return compiled.graph!;
}

function edges(graph: Graph): string[] {
  return graph.nodes.flatMap((node) =>
    node.outgoing.map(({ to, branches }) =>
      [node.id, "→", to.id, ...(branches === undefined ? [] : [`[${branches.join()}]`])].join(" "),
    ),
  );
}

describe("workflows of the existing platform load and keep their edges", () => {
  it("echo, with start and end written out", () => {
    const graph = load(`
workflow_id: echo_test
nodes:
  start: {type: start, next: [echo_handler]}
  echo_handler:
    type: task
    handler: echo
    next: [end]
  end: {type: end}
`);
    expect(edges(graph)).toEqual(["start → echo_handler", "echo_handler → end"]);
  });

  it("queues by weight, with nothing around the two tasks", () => {
    const graph = load(`
nodes:
  validate:
    handler: raster_validate
    queue: functionapp-tasks
    next: process
  process:
    handler: raster_cog_docker
    queue: container-tasks
    next: END
`);
    expect(edges(graph)).toEqual(["@start → validate", "validate → process", "process → @end"]);
    expect(graph.definition.nodes).toMatchObject({
      validate: { queue: "functionapp-tasks" },
      process: { queue: "container-tasks" },
    });
  });

  it("a raster pipeline with inputs and routing by a field", () => {
    const graph = load(`
workflow_id: raster_processing
name: Raster Processing Pipeline
version: 1
inputs:
  container_name: {type: string, required: true}
  blob_name: {type: string, required: true}
  target_crs: {type: string, default: "EPSG:3857"}
nodes:
  START: {type: start, next: validate}
  validate:
    type: task
    handler: raster_validate
    queue: functionapp-tasks
    params:
      container_name: "{{ inputs.container_name }}"
      blob_name: "{{ inputs.blob_name }}"
    next: route_by_size
  route_by_size:
    type: conditional
    condition_field: "{{ nodes.validate.output.file_size_mb }}"
    branches:
      - condition: "< 100"
        next: process_fa
      - default: true
        next: process_docker
  process_fa:
    handler: raster_cog_docker
    queue: functionapp-tasks
    next: END
  process_docker:
    type: task
    handler: raster_cog_docker
    queue: container-tasks
    timeout_seconds: 7200
    params:
      source_url: "{{ nodes.validate.output.blob_url }}"
    next: END
  END: {type: end}
`);
    expect(graph.definition.version).toBe("1");
    expect(edges(graph)).toEqual([
      "START → validate",
      "validate → route_by_size",
      "route_by_size → process_fa [0]",
      "route_by_size → process_docker [1]",
      "process_fa → END",
      "process_docker → END",
    ]);
  });

  it("a yes-or-no condition whose branches meet in any_of", () => {
    const graph = load(`
nodes:
  validate:
    handler: raster.validate
    params: {blob_path: dem.tif}
    next: [route_by_size]
  route_by_size:
    type: conditional
    condition: "{{ nodes.validate.output.file_size_mb }} > 100"
    on_true: process_heavy
    on_false: process_light
  process_heavy: {handler: raster.process, queue: container-tasks, next: [merge]}
  process_light: {handler: raster.process, queue: functionapp-tasks, next: [merge]}
  merge:
    depends_on:
      any_of: [process_heavy, process_light]
    handler: finalize
`);
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
  });

  it("a fan-out and its fan-in", () => {
    const graph = load(`
nodes:
  prepare:
    type: task
    handler: echo
    params: {item_list: "{{ inputs.item_list }}"}
    next: split
  split:
    type: fan_out
    source: "{{ nodes.prepare.output.echoed_params.item_list }}"
    task:
      handler: echo
      queue: dag-worker-tasks
      params:
        item_value: "{{ item }}"
        item_index: "{{ index }}"
      timeout_seconds: 60
    next: aggregate
  aggregate:
    type: fan_in
    aggregation: collect
    next: end
  end: {type: end}
`);
    expect(edges(graph)).toEqual([
      "@start → prepare",
      "prepare → split",
      "split → aggregate",
      "aggregate → end",
    ]);
    expect(graph.results.map((node) => node.id)).toEqual(["aggregate"]);
  });

  it("tiles for a large raster, one piece for a small one", () => {
    const graph = load(`
workflow_id: raster_tiled_processing
name: "Tiled Raster Processing with Size-Based Routing"
version: "1.0"
nodes:
  start: {type: start, next: [validate]}
  validate: {handler: raster.validate, params: {blob_path: a.tif}, next: [route_by_size]}
  route_by_size:
    type: conditional
    condition: "{{ nodes.validate.output.file_size_mb }} > 500"
    on_true: generate_tiles
    on_false: process_direct
  process_direct:
    handler: raster.create_cog
    queue: container-tasks
    params: {blob_path: a.tif}
    next: [finalize]
  generate_tiles:
    type: task
    handler: raster.generate_tiling_scheme
    params: {blob_path: a.tif, tile_size_mb: 50}
    next: process_tiles
  process_tiles:
    type: fan_out
    source: "{{ nodes.generate_tiles.output.tile_list }}"
    task:
      handler: raster.process_tile
      queue: container-tasks
      params: {blob_path: a.tif, tile: "{{ item }}", tile_index: "{{ index }}"}
      timeout_seconds: 3600
    next: merge_tiles
  merge_tiles: {type: fan_in, aggregation: collect, next: finalize}
  finalize:
    depends_on:
      any_of: [process_direct, merge_tiles]
    handler: raster.stac_register
    next: [end]
  end: {type: end}
`);
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
  });

  it.each([
    ["{max_attempts: 5, backoff: fixed, initial_delay_seconds: 1}", 5, "fixed", 1, 300],
    [
      "{max_attempts: 3, backoff: exponential, initial_delay_seconds: 5, max_delay_seconds: 300}",
      3,
      "exponential",
      5,
      300,
    ],
  ])("the retry policy %s", (policy, max_attempts, backoff, initial, max) => {
    const graph = load(`
nodes:
  process:
    type: task
    handler: raster_cog_docker
    retry: ${policy}
    timeout_seconds: 30
    next: end
`);
    expect(edges(graph)).toEqual(["@start → process", "process → @end"]);
    expect(graph.definition.nodes["process"]).toMatchObject({
      timeout_seconds: 30,
      retry: { max_attempts, backoff, initial_delay_seconds: initial, max_delay_seconds: max },
    });
  });

  it("a pipeline of a user's own", () => {
    const graph = load(`
workflow_id: my_custom_pipeline
nodes:
  validate: {handler: raster_validate, next: reproject}
  reproject:
    handler: raster_reproject
    params: {blob_path: a.tif, target_crs: "EPSG:3857"}
    next: clip
  clip:
    handler: raster_clip
    params: {blob_path: "{{ nodes.reproject.output.blob_path }}", boundary: "{{ inputs.aoi }}"}
    next: analyze
  analyze:
    handler: stats_zonal
    params: {zones: "{{ inputs.zones }}"}
    next: END
`);
    expect(edges(graph)).toEqual([
      "@start → validate",
      "validate → reproject",
      "reproject → clip",
      "clip → analyze",
      "analyze → @end",
    ]);
  });
});
