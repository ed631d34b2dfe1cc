import { describe, expect, it } from "vitest";
import { Simulation } from "../../../../test/support/simulation.ts";
import { graphOf } from "../../../../test/support/workflows.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Decision } from "./decision.ts";
import { evaluate } from "./evaluate.ts";

const echo = (extra: object = {}) => ({ handler: "echo", ...extra });

function simulate(nodes: object, inputs: JsonObject = {}, extra: object = {}): Simulation {
  return new Simulation(graphOf({ workflow_id: "test", nodes, ...extra }), inputs);
}

/** `complete a, dispatch b`: the verbs and their nodes, for reading a trace at a glance. */
function brief(decisions: readonly Decision[]): string[] {
  return decisions.map((one) => ("node_id" in one ? `${one.type} ${one.node_id}` : one.type));
}

describe("the echo workflow, decision by decision", () => {
  const run = simulate({
    start: { type: "start", next: ["echo_handler"] },
    echo_handler: { type: "task", handler: "echo", params: { message: "hello" }, next: ["end"] },
    end: { type: "end" },
  });

  it("starts the job, passes the start node and dispatches the task in one evaluation", () => {
    expect(run.tick()).toEqual([
      { type: "start_job" },
      { type: "complete", node_id: "start", output: {} },
      {
        type: "dispatch",
        node_id: "echo_handler",
        attempt: 0,
        task: {
          handler: "echo",
          queue: "functionapp-tasks",
          params: { message: "hello" },
          timeout_seconds: 300,
        },
      },
    ]);
    expect([...run.inFlight.keys()]).toEqual(["job_echo_handler_0"]);
  });

  it("decides nothing while the worker works", () => {
    expect(run.tick()).toEqual([]);
  });

  it("completes the task, the end node and the job with the result", () => {
    const output = { echoed_params: { message: "hello" } };
    expect(run.tick([run.succeed(run.flight("echo_handler"), output)])).toEqual([
      { type: "complete", node_id: "echo_handler", output },
      { type: "complete", node_id: "end", output: {} },
      { type: "complete_job", result: { echo_handler: output } },
    ]);
  });
});

describe("tiled raster processing, decision by decision", () => {
  const nodes = {
    start: { type: "start", next: ["validate"] },
    validate: echo({ next: ["route_by_size"] }),
    route_by_size: {
      type: "conditional",
      condition: "{{ nodes.validate.output.file_size_mb }} > 500",
      on_true: "generate_tiles",
      on_false: "process_direct",
    },
    process_direct: echo({ queue: "container-tasks", next: ["finalize"] }),
    generate_tiles: echo({ params: { tile_size_mb: 50 }, next: "process_tiles" }),
    process_tiles: {
      type: "fan_out",
      source: "{{ nodes.generate_tiles.output.tile_list }}",
      task: {
        handler: "echo",
        queue: "container-tasks",
        params: { tile: "{{ item }}", tile_index: "{{ index }}" },
        timeout_seconds: 3600,
      },
      next: "merge_tiles",
    },
    merge_tiles: { type: "fan_in", aggregation: "collect", next: "finalize" },
    finalize: echo({ depends_on: { any_of: ["process_direct", "merge_tiles"] }, next: ["end"] }),
    end: { type: "end" },
  };

  it("tiles a file of 750 MB, in parallel, and joins", () => {
    const run = simulate(nodes);
    const tiles = ["a", "b", "c", "d"];
    expect(brief(run.tick())).toEqual(["start_job", "complete start", "dispatch validate"]);
    expect(brief(run.tick([run.succeed(run.flight("validate"), { file_size_mb: 750 })]))).toEqual([
      "complete validate",
      "complete route_by_size",
      "dispatch generate_tiles",
      "skip process_direct",
    ]);
    const expanded = run.tick([run.succeed(run.flight("generate_tiles"), { tile_list: tiles })]);
    expect(brief(expanded)).toEqual(["complete generate_tiles", "expand process_tiles"]);
    expect(expanded[1]).toMatchObject({
      params: tiles.map((tile, tile_index) => ({ tile, tile_index })),
      dispatched: 4,
      task: { queue: "container-tasks", timeout_seconds: 3600 },
    });
    for (const index of [2, 0, 3]) {
      const flight = run.flight(`process_tiles__${index}`);
      expect(brief(run.tick([run.succeed(flight, { index })]))).toEqual([
        `complete process_tiles__${index}`,
      ]);
    }
    const last = run.tick([run.succeed(run.flight("process_tiles__1"), { index: 1 })]);
    expect(brief(last)).toEqual([
      "complete process_tiles__1",
      "complete process_tiles",
      "collect merge_tiles",
      "complete merge_tiles",
      "dispatch finalize",
    ]);
    const results = [0, 1, 2, 3].map((index) => ({ index }));
    expect(last[3]).toMatchObject({ output: { results, count: 4 } });
    expect(brief(run.tick([run.succeed(run.flight("finalize"), { item: "x" })]))).toEqual([
      "complete finalize",
      "complete end",
      "complete_job",
    ]);
    expect(run.result).toEqual({ finalize: { item: "x" } });
  });

  it("processes a file of 80 MB directly and skips the tiled branch", () => {
    const run = simulate(nodes);
    run.tick();
    expect(brief(run.tick([run.succeed(run.flight("validate"), { file_size_mb: 80 })]))).toEqual([
      "complete validate",
      "complete route_by_size",
      "skip generate_tiles",
      "dispatch process_direct",
      "skip process_tiles",
      "skip merge_tiles",
    ]);
    expect(brief(run.tick([run.succeed(run.flight("process_direct"), {})]))).toEqual([
      "complete process_direct",
      "dispatch finalize",
    ]);
    run.tick([run.succeed(run.flight("finalize"), {})]);
    expect(run.status).toBe("completed");
  });

  it("fails the job when the size is missing, and never takes a branch by guess", () => {
    const run = simulate(nodes);
    run.tick();
    const decisions = run.tick([run.succeed(run.flight("validate"), { size: 1 })]);
    expect(brief(decisions)).toEqual([
      "complete validate",
      "fail route_by_size",
      "fail_job route_by_size",
    ]);
    expect(run.error?.error).toMatchObject({ code: "CONDITION_FAILED", category: "permanent" });
    expect(run.error?.error.message).toContain("file_size_mb");
    expect(run.statusOf("generate_tiles")).toBe("cancelled");
  });
});

describe("joins", () => {
  const diamond = (join: object) => ({
    choose: {
      type: "conditional",
      condition_field: "{{ inputs.side }}",
      branches: [
        { condition: "== left", next: "left" },
        { condition: "== right", next: "right" },
        { condition: "== both", next: ["left", "right"] },
        { default: true, next: [] },
      ],
    },
    left: echo(),
    right: echo(),
    join: echo({ depends_on: join }),
  });

  it("waits with all_of for every edge, and a dead edge counts as decided", () => {
    const run = simulate(diamond(["left", "right"]), { side: "left" });
    expect(brief(run.tick())).toContain("skip right");
    expect(brief(run.tick([run.succeed(run.flight("left"), {})]))).toContain("dispatch join");
  });

  it("starts with any_of at the first live edge, once", () => {
    const run = simulate(diamond({ any_of: ["left", "right"] }), { side: "both" });
    run.tick();
    expect(brief(run.tick([run.succeed(run.flight("right"), {})]))).toEqual([
      "complete right",
      "dispatch join",
    ]);
    expect(brief(run.tick([run.succeed(run.flight("left"), {})]))).toEqual(["complete left"]);
    run.tick([run.succeed(run.flight("join"), {})]);
    expect(run.status).toBe("completed");
  });

  it("waits for all of all_of and the first of any_of where both are given", () => {
    const nodes = {
      a: echo(),
      b: echo(),
      c: echo(),
      join: echo({ depends_on: { all_of: ["a"], any_of: ["b", "c"] } }),
    };
    const run = simulate(nodes);
    run.tick();
    expect(brief(run.tick([run.succeed(run.flight("b"), {})]))).toEqual(["complete b"]);
    expect(brief(run.tick([run.succeed(run.flight("a"), {})]))).toEqual([
      "complete a",
      "dispatch join",
    ]);
  });

  it.each([
    [{ all_of: ["left"], any_of: ["right"] }, "left", "skipped"],
    [{ all_of: ["left"], any_of: ["right"] }, "both", "dispatched"],
    [{ all_of: ["choose"], any_of: ["left", "right"] }, "right", "dispatched"],
  ])("skips a node if all_of or any_of of %j cannot be met", (join, side, status) => {
    const run = simulate(diamond(join), { side });
    run.tick();
    run.tick([...run.inFlight.values()].map((flight) => run.succeed(flight, {})));
    expect(run.statusOf("join")).toBe(status);
  });

  it("gives a node the outputs of the nodes before it, past a conditional", () => {
    const nodes = {
      first: echo({ next: "which" }),
      which: { type: "conditional", condition: "upstream.output.size > 3", on_true: "big" },
      big: echo({ params: { size: "{{ upstream.output.size }}" } }),
      last: echo({ depends_on: ["first", "big"], params: { all: "{{ upstream.output }}" } }),
    };
    const run = simulate(nodes);
    run.tick();
    expect(run.tick([run.succeed(run.flight("first"), { size: 5, name: "a" })])).toContainEqual(
      expect.objectContaining({
        node_id: "big",
        task: expect.objectContaining({ params: { size: 5 } }) as unknown,
      }),
    );
    expect(run.tick([run.succeed(run.flight("big"), { size: 6 })])).toContainEqual(
      expect.objectContaining({
        node_id: "last",
        task: expect.objectContaining({ params: { all: { size: 6, name: "a" } } }) as unknown,
      }),
    );
  });

  it("skips what no live edge reaches and still completes the job", () => {
    for (const join of [["left", "right"], { any_of: ["left", "right"] }]) {
      const run = simulate(diamond(join), { side: "none" });
      run.tick();
      expect(run.status).toBe("completed");
      expect(["left", "right", "join"].map((id) => run.statusOf(id))).toEqual(
        Array(3).fill("skipped"),
      );
      expect(run.result).toEqual({});
    }
  });
});

describe("fan-out", () => {
  const fan = (fanOut: object = {}, fanIn: object = {}) => ({
    split: {
      type: "fan_out",
      source: "{{ inputs.list }}",
      task: echo({ params: { item: "{{ item }}" }, retry: { max_attempts: 0 } }),
      next: "join",
      ...fanOut,
    },
    join: { type: "fan_in", ...fanIn },
  });

  it("of nothing is complete at once, with an empty aggregate", () => {
    const run = simulate(fan(), { list: [] });
    expect(brief(run.tick())).toEqual([
      "start_job",
      "complete @start",
      "expand split",
      "complete split",
      "collect join",
      "complete join",
      "complete @end",
      "complete_job",
    ]);
    expect(run.result).toEqual({ join: { results: [], count: 0 } });
  });

  it("keeps at most max_concurrency children in flight, in index order", () => {
    const run = simulate(fan({ max_concurrency: 2 }), { list: [1, 2, 3, 4, 5] });
    run.tick();
    const flying = () => [...run.inFlight.values()].map((flight) => flight.node_id);
    expect(flying()).toEqual(["split__0", "split__1"]);
    const released = run.tick([run.succeed(run.flight("split__1"), {})]);
    expect(released[1]).toEqual({ type: "release", node_id: "split", from: 2, to: 3 });
    expect(flying()).toEqual(["split__0", "split__2"]);
    run.tick([run.succeed(run.flight("split__0"), {}), run.succeed(run.flight("split__2"), {})]);
    expect(flying()).toEqual(["split__3", "split__4"]);
  });

  it("fails the job at the first child beyond the budget, and stops the others", () => {
    const run = simulate(fan(), { list: [1, 2, 3] });
    run.tick();
    expect(brief(run.tick([run.failing(run.flight("split__1"))]))).toEqual([
      "fail split__1",
      "fail split",
      "fail_job split",
    ]);
    expect(run.error?.error.message).toBe(
      "1 of 3 children failed, 0 allowed: split__1 (BOOM: boom)",
    );
    expect(run.statusOf("split__0")).toBe("cancelled");
  });

  it("with on_failure continue lets every child finish before it fails", () => {
    const run = simulate(fan({ on_failure: "continue" }), { list: [1, 2] });
    run.tick();
    expect(brief(run.tick([run.failing(run.flight("split__0"))]))).toEqual(["fail split__0"]);
    run.tick([run.succeed(run.flight("split__1"), {})]);
    expect([run.status, run.statusOf("split__1")]).toEqual(["failed", "completed"]);
  });

  it("within the budget completes, and the aggregate names the failed ones", () => {
    const run = simulate(fan({}, { max_failures: 1 }), { list: [1, 2] });
    run.tick();
    run.tick([run.failing(run.flight("split__0"))]);
    run.tick([run.succeed(run.flight("split__1"), { n: 2 })]);
    expect(run.result).toEqual({
      join: {
        results: [{ n: 2 }],
        count: 1,
        failed_count: 1,
        failed: [{ index: 0, node_id: "split__0", error: "boom" }],
      },
    });
  });

  it("obeys the strictest of the fan-ins behind it", () => {
    const nodes = { ...fan({ next: ["join", "strict"] }, { max_failures: 5 }), strict: {} };
    const run = simulate({ ...nodes, strict: { type: "fan_in" } }, { list: [1, 2] });
    run.tick();
    run.tick([run.failing(run.flight("split__0"))]);
    expect(run.status).toBe("failed");
  });

  it("refuses a source that is not a list", () => {
    const run = simulate(fan(), { list: "abc" });
    run.tick();
    expect(run.error?.error).toMatchObject({
      code: "FAN_OUT_SOURCE",
      message: "the source must be a list, but it is string",
    });
  });

  it("names the item whose parameters cannot be rendered, and creates no child", () => {
    const broken = fan({ task: echo({ params: { x: "{{ item.path }}" } }) });
    const run = simulate(broken, { list: [{ path: 1 }, {}] });
    expect(brief(run.tick())).not.toContain("expand split");
    expect(run.error?.error.message).toMatch(/^item 1: .*path/);
  });
});

describe("retries", () => {
  const once = { work: echo({ retry: { max_attempts: 1, backoff: "fixed", jitter: false } }) };

  it("waits until the retry is due, then sends the same parameters as a new attempt", () => {
    const run = simulate(once);
    run.tick();
    const retry = run.tick([run.failing(run.flight("work"))]);
    expect(retry).toMatchObject([
      { type: "retry", node_id: "work", retry_at: 5000, retry_count: 1 },
    ]);
    run.now = 4999;
    expect(run.tick([], ["work"])).toEqual([]);
    run.now = 5000;
    expect(run.tick([], ["work"])).toMatchObject([{ type: "dispatch", attempt: 1 }]);
    expect([...run.inFlight.keys()]).toEqual(["job_work_1"]);
  });

  it("fails the job when the budget is used up", () => {
    const run = simulate(once);
    run.tick();
    run.tick([run.failing(run.flight("work"))]);
    run.now = 5000;
    run.tick();
    expect(brief(run.tick([run.failing(run.flight("work"))]))).toEqual([
      "fail work",
      "fail_job work",
    ]);
  });

  it("does not repeat a permanent error", () => {
    const run = simulate(once);
    run.tick();
    run.tick([run.failing(run.flight("work"), { category: "permanent" })]);
    expect(run.status).toBe("failed");
  });

  it("ignores the late result of an earlier attempt, and a result that comes twice", () => {
    const run = simulate(once);
    run.tick();
    const first = run.flight("work");
    run.tick([run.failing(first)]);
    run.now = 5000;
    run.tick();
    expect(run.tick([run.succeed(first, {})])).toEqual([
      {
        type: "ignore",
        node_id: "work",
        task_id: "job_work_0",
        reason: "attempt 1 is the current one",
      },
    ]);
    const report = run.succeed(run.flight("work"), {});
    expect(brief(run.tick([report, report]))).toEqual([
      "complete work",
      "ignore work",
      "complete @end",
      "complete_job",
    ]);
    expect(brief(run.tick([report]))).toEqual(["ignore work"]);
  });

  it("ignores a result for a node that the job does not have", () => {
    const run = simulate(once);
    run.tick();
    const report = { ...run.succeed(run.flight("work"), {}), node_id: "constructor" };
    expect(run.tick([report])).toMatchObject([{ reason: "the job has no such node" }]);
  });
});

describe("a job as a whole", () => {
  it("records every result of a batch before it fails by the first failure in graph order", () => {
    const run = simulate({ a: echo(), b: echo(), c: echo() });
    run.tick();
    const permanent = { category: "permanent" } as const;
    const decisions = run.tick([
      run.failing(run.flight("c"), permanent),
      run.succeed(run.flight("b"), {}),
      run.failing(run.flight("a"), permanent),
    ]);
    expect(brief(decisions)).toEqual(["fail a", "complete b", "fail c", "fail_job a"]);
  });

  it("starts nothing while it is paused, and goes on where it was", () => {
    const run = simulate({ a: echo({ next: "b" }), b: echo() });
    run.tick();
    run.paused = true;
    expect(brief(run.tick([run.succeed(run.flight("a"), {})]))).toEqual(["complete a", "ready b"]);
    expect(run.tick()).toEqual([]);
    run.paused = false;
    expect(brief(run.tick())).toEqual(["dispatch b"]);
  });

  it("is cancelled on request, whatever arrives with it", () => {
    const run = simulate({ a: echo({ next: "b" }), b: echo() });
    run.tick();
    run.cancelRequested = "no longer needed";
    const decisions = run.tick([run.succeed(run.flight("a"), {})]);
    expect(brief(decisions)).toEqual(["ignore a", "cancel_job"]);
    expect(["a", "b"].map((id) => run.statusOf(id))).toEqual(["cancelled", "cancelled"]);
  });

  it("names its result by the outputs that the author asked for", () => {
    const outputs = { twice: "{{ nodes.a.output.n * 2 }}", who: "{{ job.job_id }}" };
    const run = simulate({ a: echo() }, {}, { outputs });
    run.tick();
    run.tick([run.succeed(run.flight("a"), { n: 21 })]);
    expect(run.result).toEqual({ twice: 42, who: "job" });
  });

  it("fails when its outputs cannot be rendered", () => {
    const run = simulate({ a: echo() }, {}, { outputs: { x: "{{ nodes.a.output.n }}" } });
    run.tick();
    run.tick([run.succeed(run.flight("a"), {})]);
    expect(run.status).toBe("failed");
    expect(run.error).toMatchObject({ node_id: undefined, error: { code: "OUTPUTS_FAILED" } });
  });

  it("fails a task whose parameters cannot be rendered, before anything is dispatched", () => {
    const nodes = {
      a: echo({ next: "b" }),
      b: echo({ params: { x: "{{ nodes.a.output.gone }}" } }),
    };
    const run = simulate(nodes);
    run.tick();
    run.tick([run.succeed(run.flight("a"), { here: 1 })]);
    expect(run.error?.error).toMatchObject({ code: "TEMPLATE_FAILED" });
    expect(run.error?.error.message).toContain("gone");
  });

  it("aggregates plain predecessors of a fan-in without asking for children", () => {
    const run = simulate({
      a: echo({ next: "j" }),
      b: echo({ next: "j" }),
      j: { type: "fan_in", aggregation: "sum" },
    });
    run.tick();
    run.tick([run.succeed(run.flight("a"), { n: 1 }), run.succeed(run.flight("b"), { n: 2 })]);
    expect(run.result).toEqual({ j: { total: 3, count: 2 } });
  });

  it("can be evaluated before any node has been recorded", () => {
    const run = simulate({ a: echo() });
    const facts = { ...run.facts(), nodes: new Map(), unsettled: run.graph.nodes.length };
    expect(brief(evaluate(run.graph, facts, 0))).toEqual([
      "start_job",
      "complete @start",
      "dispatch a",
    ]);
  });
});
