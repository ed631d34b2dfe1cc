import { describe, expect, it } from "vitest";
import { Simulation } from "../../../test/support/simulation.ts";
import { graphOf } from "../../../test/support/workflows.ts";
import { countUnsettled, implicitFacts, storedUnsettled } from "./implicit-nodes.ts";

const echo = { handler: "echo" };

/** The derived statuses beside those that `evaluate` decided. */
function compare(run: Simulation): Record<string, [derived: string, decided: string | undefined]> {
  const { graph, status, nodes } = run;
  return Object.fromEntries(
    implicitFacts(graph, status, nodes).map((fact) => [
      fact.node_id,
      [fact.status, run.statusOf(fact.node_id)],
    ]),
  );
}

describe("the implicit start and end", () => {
  it("are completed and pending while the job runs, and completed with it", () => {
    const run = new Simulation(graphOf({ workflow_id: "w", nodes: { a: echo } }));
    run.tick();
    expect(compare(run)).toEqual({
      "@start": ["completed", "completed"],
      "@end": ["pending", "pending"],
    });
    run.tick([run.succeed(run.flight("a"), {})]);
    expect(compare(run)["@end"]).toEqual(["completed", "completed"]);
  });

  it("end as cancelled where the job fails or is cancelled", () => {
    const failing = new Simulation(graphOf({ workflow_id: "w", nodes: { a: echo, b: echo } }));
    failing.tick();
    failing.tick([
      failing.succeed(failing.flight("a"), {}),
      failing.failing(failing.flight("b"), { category: "permanent" }),
    ]);
    expect(failing.status).toBe("failed");
    expect(compare(failing)["@end"]).toEqual(["cancelled", "cancelled"]);

    const cancelled = new Simulation(graphOf({ workflow_id: "w", nodes: { a: echo } }));
    cancelled.tick();
    cancelled.cancelRequested = "no longer needed";
    cancelled.tick();
    expect(compare(cancelled)["@end"]).toEqual(["cancelled", "cancelled"]);
  });

  it("keep the end completed where only the outputs of the workflow fail", () => {
    const outputs = { n: "{{ nodes.a.output.missing }}" };
    const run = new Simulation(graphOf({ workflow_id: "w", nodes: { a: echo }, outputs }));
    run.tick();
    run.tick([run.succeed(run.flight("a"), {})]);
    expect(run.status).toBe("failed");
    expect(compare(run)["@end"]).toEqual(["completed", "completed"]);
  });

  it("skip the end where every node before it was skipped", () => {
    const nodes = {
      choose: { type: "conditional", condition: "1 == 1", on_true: "yes", on_false: "no" },
      yes: { type: "conditional", condition: "1 == 1", on_true: "never", on_false: "no" },
      no: echo,
      // Ready only if an edge of both parts is live, and `no` is skipped.
      never: { ...echo, depends_on: { all_of: ["yes"], any_of: ["no"] } },
    };
    const run = new Simulation(graphOf({ workflow_id: "w", nodes }));
    run.tick();
    expect(run.status).toBe("completed");
    expect(compare(run)["@end"]).toEqual(["skipped", "skipped"]);
  });

  it("are none where the author wrote a start and an end", () => {
    const nodes = {
      begin: { type: "start", next: "a" },
      a: { ...echo, next: "stop" },
      stop: { type: "end" },
    };
    expect(compare(new Simulation(graphOf({ workflow_id: "w", nodes })))).toEqual({});
  });

  it("count in the row of an open job as if the start were not settled", () => {
    const nodes = { a: { ...echo, next: "b" }, b: echo };
    const run = new Simulation(graphOf({ workflow_id: "w", nodes }));
    const count = () => {
      const unsettled = countUnsettled(run.graph, run.nodes);
      return [unsettled, storedUnsettled(run.graph, run.status, unsettled)];
    };
    expect(count()).toEqual([4, 4]);
    run.tick();
    expect(count()).toEqual([3, 4]);
    run.tick([run.succeed(run.flight("a"), {})]);
    expect(count()).toEqual([2, 3]);
    run.tick([run.succeed(run.flight("b"), {})]);
    expect(count()).toEqual([0, 0]);
  });

  it("change no count where the author wrote the start", () => {
    const nodes = { begin: { type: "start", next: "a" }, a: echo };
    const { graph } = new Simulation(graphOf({ workflow_id: "w", nodes }));
    expect(storedUnsettled(graph, "running", 2)).toBe(2);
  });
});
