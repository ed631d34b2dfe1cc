import { describe, expect, it } from "vitest";
import { Simulation } from "../../../../test/support/simulation.ts";
import { graphOf } from "../../../../test/support/workflows.ts";
import { waitReason, whyWaiting } from "./wait-reason.ts";

const run = () =>
  new Simulation(
    graphOf({
      nodes: {
        a: {
          handler: "echo",
          queue: "container-tasks",
          retry: { jitter: false },
          next: "b",
        },
        b: {
          type: "fan_out",
          source: [1, 2, 3],
          max_concurrency: 1,
          task: { handler: "echo", retry: { jitter: false } },
        },
        c: { handler: "echo", depends_on: ["a", "b"] },
      },
    }),
  );
const why = (simulation: Simulation, node: string, isOffered = true) => {
  const reason = whyWaiting(simulation.graph, simulation.facts(), node, () => isOffered);
  return reason === undefined ? undefined : waitReason.parse(reason);
};

describe("why a node is not running", () => {
  it("names the predecessors that it waits for", () => {
    const simulation = run();
    simulation.tick();
    expect(why(simulation, "c")).toEqual({ kind: "dependency", nodes: ["a", "b"] });
  });

  it("distinguishes a queue with workers from one without", () => {
    const simulation = run();
    simulation.tick();
    expect(why(simulation, "a")).toEqual({ kind: "queued", queue: "container-tasks" });
    expect(why(simulation, "a", false)).toEqual({
      kind: "no_worker",
      queue: "container-tasks",
      handler: "echo",
    });
  });

  it("counts the children of a fan-out and names the limit that holds one back", () => {
    const simulation = run();
    simulation.tick();
    simulation.tick([simulation.succeed(simulation.flight("a"), {})]);
    expect(why(simulation, "b")).toEqual({ kind: "children", settled: 0, total: 3 });
    expect(why(simulation, "b__2")).toEqual({ kind: "concurrency", fan_out: "b", limit: 1 });
  });

  it("says when the next attempt may start", () => {
    const simulation = run();
    simulation.tick();
    simulation.tick([simulation.failing(simulation.flight("a"))]);
    expect(why(simulation, "a")).toEqual({
      kind: "retry",
      at: "1970-01-01T00:00:05.000Z",
      attempt: 1,
    });
  });

  it("says that the job is paused", () => {
    const simulation = run();
    simulation.tick();
    simulation.paused = true;
    simulation.tick([simulation.succeed(simulation.flight("a"), {})]);
    expect(why(simulation, "b")).toEqual({ kind: "paused" });
  });

  it("has nothing to say of a node that is settled or unknown", () => {
    const simulation = run();
    simulation.tick();
    simulation.tick([simulation.succeed(simulation.flight("a"), {})]);
    expect(why(simulation, "a")).toBeUndefined();
    expect(why(simulation, "nobody")).toBeUndefined();
  });
});
