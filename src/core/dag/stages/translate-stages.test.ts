import { describe, expect, it } from "vitest";
import { Simulation } from "../../../../test/support/simulation.ts";
import { handlerCatalogue } from "../../handlers/index.ts";
import type { JsonObject } from "../../model/json.ts";
import { taskQueues } from "../../queues.ts";
import { compile } from "../compile/compile.ts";
import type { Decision } from "../evaluate/decision.ts";
import type { JobDeclaration } from "./declaration.ts";

function compileJob(declared: JobDeclaration) {
  const options = {
    handlers: handlerCatalogue,
    queues: new Set(taskQueues),
    env: new Set<string>(),
  };
  return compile(declared, options);
}

function simulate(declared: JobDeclaration, inputs: JsonObject): Simulation {
  const { graph, findings } = compileJob(declared);
  expect(findings).toEqual([]);
  return new Simulation(graph!, inputs);
}

/** Parameters of the tasks that a stage starts. */
function started(decisions: readonly Decision[]): readonly JsonObject[] {
  return decisions.flatMap((each) => (each.type === "expand" ? each.params : []));
}

const finish = (run: Simulation, output: (index: number) => JsonObject) =>
  run.tick([...run.inFlight.values()].map((flight, index) => run.succeed(flight, output(index))));

/** The diamond of the reference: list, process each, aggregate, catalogue. */
const diamond: JobDeclaration = {
  job_type: "catalog_files",
  parameters_schema: { container: { type: "str", required: true } },
  stages: [
    {
      number: 1,
      name: "list",
      task_type: "list_container_files",
      parameters: { container: "{{ job_params['container'] }}" },
    },
    {
      number: 2,
      name: "process",
      task_type: "echo",
      parallelism: "fan_out",
      tasks: "{{ previous_results[0]['result']['files'] }}",
      parameters: { file_name: "{{ item }}", container: "{{ parameters.container }}" },
      max_parallel_tasks: 50,
    },
    { number: 3, name: "aggregate", task_type: "aggregate_results", parallelism: "fan_in" },
    {
      number: 4,
      name: "catalog",
      task_type: "echo",
      parameters: {
        summary: "{{ previous_results[0].result.summary }}",
        listed: "{{ stage_results[1].count }}",
        step: "{{ stage }}",
        says: "the stage is 'stage' of {{ 'previous_results' }}",
      },
    },
  ],
};

describe("a job of stages", () => {
  it("runs one stage after the other, and hands results on in order", () => {
    const run = simulate(diamond, { container: "bronze" });
    expect(started(run.tick())).toEqual([{ container: "bronze" }]);
    const listed = finish(run, () => ({ files: ["a", "b", "c"], count: 3 }));
    expect(started(listed)).toEqual(
      ["a", "b", "c"].map((file_name) => ({ file_name, container: "bronze" })),
    );
    const processed = finish(run, (index) => ({ success: true, result: { file_size: index } }));
    expect(started(processed)).toEqual([
      {
        previous_results: [0, 1, 2].map((index) => ({
          task_index: index,
          result: { file_size: index },
        })),
      },
    ]);
    const summary = { total_files: 3, total_size_mb: 0 };
    expect(started(finish(run, () => ({ summary })))).toEqual([
      { summary, listed: 1, step: 4, says: "the stage is 'stage' of previous_results" },
    ]);
    finish(run, () => ({ done: true }));
    expect(run.status).toBe("completed");
    expect(run.result).toEqual({
      results: [{ task_index: 0, result: { done: true } }],
      task_count: 1,
    });
  });

  it("runs as many tasks as a parameter says, and matches them by what they hand on", () => {
    const run = simulate(
      {
        job_type: "two",
        parameters_schema: { n: { type: "int", default: 2, min: 1, max: 9 } },
        stages: [
          {
            task_type: "echo",
            parallelism: "fixed",
            count: "{{ parameters.n }}",
            parameters: { index: "{{ index }}" },
          },
          {
            stage_number: 2,
            stage_name: "reply",
            task_type: "echo",
            parallelism: "match_previous",
          },
          { task_type: "echo", parallelism: "fixed", count: 3 },
        ],
      },
      { n: 3 },
    );
    expect(started(run.tick())).toEqual([{ index: 0 }, { index: 1 }, { index: 2 }]);
    const handed = finish(run, (index) => ({ next_stage_params: { tile: index } }));
    expect(started(handed)).toEqual([{ tile: 0 }, { tile: 1 }, { tile: 2 }]);
    expect(started(finish(run, () => ({})))).toEqual([{}, {}, {}]);
  });

  it("keeps its stages in the stored workflow, whose nodes are named after them", () => {
    const { definition } = compileJob(diamond);
    expect(Object.keys(definition!.nodes)).toContain("process_results");
    expect(
      definition!.stages!.stages.map(({ number, name, tasks_node }) => [number, name, tasks_node]),
    ).toEqual([
      [1, "list", "list"],
      [2, "process", "process"],
      [3, "aggregate", "aggregate"],
      [4, "catalog", "catalog"],
    ]);
    expect(definition!.inputs).toMatchObject({ container: { type: "string", required: true } });
  });

  it("calls a stage with a count fixed, and a stage of one task single", () => {
    const { definition } = compileJob({
      job_type: "counted",
      stages: [
        { task_type: "echo", count: 3 },
        { task_type: "echo", parallelism: "single", tasks: ["a", "b"] },
        { task_type: "echo", parallelism: "single" },
      ],
    });
    const shown = definition!.stages!.stages.map(({ parallelism }) => parallelism);
    expect(shown).toEqual(["fixed", "fixed", "single"]);
  });

  it.each<[string, Partial<JobDeclaration>, [string, string]]>([
    ["no stage", { stages: [] }, ["WRONG_VALUE", "stages"]],
    [
      "an unknown handler",
      { stages: [{ task_type: "ehco" }] },
      ["UNKNOWN_HANDLER", "stages.0.task_type"],
    ],
    [
      "a parameter that it lacks",
      { stages: [{ task_type: "sleep", parameters: { second: 1 } }] },
      ["UNKNOWN_PARAMETER", "stages.0.parameters.second"],
    ],
    [
      "a wrong number",
      { stages: [{ number: 2, task_type: "echo" }] },
      ["WRONG_VALUE", "stages.0.number"],
    ],
    [
      "no list to fan out",
      { stages: [{ task_type: "echo", parallelism: "fan_out" }] },
      ["MISSING_KEY", "stages.0"],
    ],
    [
      "a fan-in of nothing",
      { stages: [{ task_type: "echo", parallelism: "fan_in" }] },
      ["WRONG_VALUE", "stages.0.parallelism"],
    ],
    [
      "an input that is not declared",
      {
        parameters_schema: {},
        stages: [{ task_type: "echo", parameters: { a: "{{ parameters.b }}" } }],
      },
      ["UNKNOWN_INPUT", "stages.0.parameters.a"],
    ],
    ["a wrong count of stages", { total_stages: 3 }, ["WRONG_VALUE", "total_stages"]],
    [
      "results before there are any",
      { stages: [{ task_type: "echo", tasks: "{{ previous_results }}" }] },
      ["UNKNOWN_REFERENCE", "stages.0.tasks"],
    ],
  ])("is refused for %s, at its place", (_, change, [code, path]) => {
    const stages = [{ task_type: "echo" }];
    const { findings, graph } = compileJob({ job_type: "broken", stages, ...change });
    expect(graph).toBeUndefined();
    expect(findings.map((each) => [each.code, each.path.join(".")])).toEqual([[code, path]]);
  });
});
