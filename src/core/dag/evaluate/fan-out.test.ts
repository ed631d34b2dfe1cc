import { describe, expect, it } from "vitest";
import type { FanInDefinition } from "../../model/workflow.ts";
import { Simulation } from "../../../../test/support/simulation.ts";
import { graphOf } from "../../../../test/support/workflows.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { Decision } from "./decision.ts";
import { allowedFailures } from "./fan-out.ts";

const fanIn = (budget: Partial<FanInDefinition>): FanInDefinition => ({
  type: "fan_in",
  aggregation: "collect",
  next: [],
  ...budget,
});

describe("the failure budget of a fan-out of ten", () => {
  it.each([
    ["without a fan-in", [], 0],
    ["with a fan-in that names none", [fanIn({})], 0],
    ["of max_failures", [fanIn({ max_failures: 3 })], 3],
    ["of max_failure_percent, rounded down", [fanIn({ max_failure_percent: 25 })], 2],
    ["of max_failure_percent 0", [fanIn({ max_failure_percent: 0 })], 0],
    ["of min_success", [fanIn({ min_success: 8 })], 2],
    ["of min_success 0: all may fail", [fanIn({ min_success: 0 })], 10],
    ["of min_success that cannot be met", [fanIn({ min_success: 11 })], -1],
    ["is the strictest of several", [fanIn({ max_failures: 5, min_success: 9 })], 1],
    ["is the strictest of several fan-ins", [fanIn({ max_failures: 5 }), fanIn({})], 0],
  ] as const)("%s", (_, fanIns, expected) => {
    expect(allowedFailures(fanIns, 10)).toBe(expected);
  });
});

describe("a fan-out of more than two blocks", () => {
  const task = { handler: "echo", params: { item: "{{ item }}" } };
  function simulate(settings: object, inputs: JsonObject): Simulation {
    const split = { type: "fan_out", source: "{{ inputs.list }}", task, ...settings };
    return new Simulation(graphOf({ workflow_id: "test", nodes: { split } }), inputs);
  }
  const brief = (decisions: readonly Decision[]) =>
    decisions.map((one) => ("node_id" in one ? `${one.type} ${one.node_id ?? ""}` : one.type));

  it("creates a block at once, and the next when less than one is open", () => {
    const run = simulate({}, { list: [1, 2, 3, 4, 5, 6, 7] });
    run.fanOutBlock = 3;
    const block = (from: number, items: number[]) => ({
      type: "expand",
      from,
      total: 7,
      dispatched: items.length,
      params: items.map((item) => ({ item })),
    });
    expect(run.tick().at(-1)).toMatchObject(block(0, [1, 2, 3]));
    run.paused = true;
    expect(brief(run.tick([run.succeed(run.flight("split__1"), {})]))).toEqual([
      "complete split__1",
    ]);
    run.paused = false;
    expect(run.tick()).toMatchObject([block(3, [4, 5, 6])]);
    for (const index of [0, 3]) {
      run.tick([run.succeed(run.flight(`split__${index}`), {})]);
      expect(run.statusOf("split__6")).toBeUndefined();
    }
    expect(run.tick([run.succeed(run.flight("split__2"), {})]).at(-1)).toMatchObject(block(6, [7]));
    for (const index of [4, 6, 5]) run.tick([run.succeed(run.flight(`split__${index}`), {})]);
    expect([run.status, run.nodes.get("split")?.output?.["fan_out_count"]]).toEqual([
      "completed",
      7,
    ]);
  });

  it("begins with a thousand, and each next block is as large as all before it", () => {
    const list = Array.from({ length: 12_000 }, (_, index) => index);
    const run = simulate({}, { list });
    const created: number[] = [];
    const note = (decisions: readonly Decision[]) => {
      for (const one of decisions) if (one.type === "expand") created.push(one.dispatched);
    };
    note(run.tick());
    while (run.status === "running") {
      const flights = [...run.inFlight.values()].slice(0, 2000);
      note(run.tick(flights.map((flight) => run.succeed(flight, {}))));
    }
    expect(run.status).toBe("completed");
    expect(created).toEqual([1000, 1000, 2000, 4000, 4000]);
  });

  it("keeps to max_concurrency, and fails when its source is another one later", () => {
    const run = simulate({ max_concurrency: 2 }, { list: [1, 2, 3, 4, 5, 6, 7] });
    run.fanOutBlock = 3;
    run.tick();
    const flying = () => [...run.inFlight.values()].map((flight) => flight.node_id);
    expect(flying()).toEqual(["split__0", "split__1"]);
    const two = run.tick(["split__0", "split__1"].map((id) => run.succeed(run.flight(id), {})));
    expect(brief(two).slice(2)).toEqual(["release split", "expand split"]);
    expect(flying()).toEqual(["split__2", "split__3"]);
    expect(run.statusOf("split__5")).toBe("ready");
    (run.inputs as Record<string, Json>)["list"] = [1];
    run.tick(["split__2", "split__3"].map((id) => run.succeed(run.flight(id), {})));
    run.tick(["split__4", "split__5"].map((id) => run.succeed(run.flight(id), {})));
    expect(run.error?.error).toMatchObject({
      code: "FAN_OUT_SOURCE",
      message: "the source had 7 items and has 1 now",
    });
  });
});
