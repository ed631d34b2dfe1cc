import { describe, expect, it } from "vitest";
import type { JobEvent, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import { criticalPath, readyTimes, segmentsOf, segmentsOfAttempts } from "./gantt-segments.ts";

const second = (value: number) => new Date(value * 1000).toISOString();

function node(node_id: string, over: Partial<NodeSummary> = {}): NodeSummary {
  return {
    node_id,
    node_type: "task",
    status: "completed",
    parent_node_id: null,
    fan_out_index: null,
    attempt: 1,
    retry_count: 0,
    max_retries: 3,
    task_id: null,
    handler: null,
    queue: null,
    worker_id: null,
    error: null,
    progress: null,
    wait_reason: null,
    branch: null,
    children: null,
    retry_at: null,
    created_at: second(0),
    dispatched_at: null,
    started_at: null,
    completed_at: null,
    ...over,
  };
}

describe("the bars of a node", () => {
  it("are its wait in the queue and its run", () => {
    const times = { dispatched_at: second(1), started_at: second(3), completed_at: second(7) };
    const bars = segmentsOf(node("a", times), 9000);
    expect(bars.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["wait", 1000, 3000],
      ["run", 3000, 7000],
    ]);
  });

  it("grow until now while it runs", () => {
    const times = { dispatched_at: second(1), started_at: second(3) };
    expect(segmentsOf(node("a", { ...times, status: "running" }), 9000).at(-1)?.to).toBe(9000);
  });

  it("of a fan-out begin when the nodes before it had ended, though no task of its own started", () => {
    const nodes = [
      node("a", { completed_at: second(2) }),
      node("b", { completed_at: second(4) }),
      node("spread", { node_type: "fan_out", completed_at: second(9) }),
    ];
    const edges = ["a", "b"].map((from) => ({ from, to: "spread" }));
    const ready = readyTimes(nodes, edges);
    const bars = segmentsOf(nodes[2]!, 20_000, ready.get("spread"));
    expect(bars.map(({ kind, from, to }) => [kind, from, to])).toEqual([["run", 4000, 9000]]);
    const running = node("spread", { node_type: "fan_out", status: "running" });
    expect(segmentsOf(running, 20_000, 4000)).toMatchObject([{ from: 4000, to: 20_000 }]);
    const waiting = node("spread", { node_type: "fan_out", status: "pending" });
    expect(segmentsOf(waiting, 20_000, 4000)).toEqual([]);
  });

  it("are one for each attempt, with the pause between two", () => {
    const dispatched = (task_id: string, at: number): JobEvent => ({
      seq: 1,
      event_type: "node_dispatched",
      event_status: "info",
      node_id: "a",
      task_id,
      checkpoint_name: null,
      event_data: null,
      created_at: second(at),
    });
    const bars = segmentsOfAttempts(
      node("a", { attempt: 2, completed_at: second(20) }),
      [
        { task_id: "j_a_1", status: "completed", started_at: second(12), reported_at: second(20) },
        { task_id: "j_a_0", status: "failed", started_at: second(2), reported_at: second(5) },
      ],
      [dispatched("j_a_0", 1), dispatched("j_a_1", 10)],
      30_000,
    );
    expect(bars.map(({ kind, from, to }) => [kind, from / 1000, to / 1000])).toEqual([
      ["wait", 1, 2],
      ["run", 2, 5],
      ["retry", 5, 10],
      ["wait", 10, 12],
      ["run", 12, 20],
    ]);
  });
});

describe("the critical path", () => {
  it("goes back from the last node along the predecessor that ended last", () => {
    const ended = (id: string, at: number) => node(id, { completed_at: second(at) });
    const path = criticalPath(
      [ended("a", 1), ended("quick", 2), ended("slow", 8), ended("end", 9)],
      [
        { from: "a", to: "quick" },
        { from: "a", to: "slow" },
        { from: "quick", to: "end" },
        { from: "slow", to: "end" },
      ],
    );
    expect([...path]).toEqual(["end", "slow", "a"]);
  });
});
