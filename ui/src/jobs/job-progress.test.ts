import { describe, expect, it } from "vitest";
import type { Histogram, NodeSummary } from "../../../src/core/api/job-schemas.ts";
import { attemptNumber, attemptsOf } from "../../../src/core/model/attempts.ts";
import { failureTitle, progressShare, settledNodes, timeLeft } from "./job-progress.ts";

const none: Histogram = {
  total: 0,
  pending: 0,
  ready: 0,
  dispatched: 0,
  running: 0,
  completed: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
};

const second = (value: number) => new Date(value * 1000).toISOString();

function node(over: Partial<NodeSummary>): NodeSummary {
  return {
    node_id: "a",
    node_type: "task",
    status: "running",
    parent_node_id: null,
    fan_out_index: null,
    attempt: 0,
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

describe("the progress of a job", () => {
  it("does not count nodes that the end of the job cancelled", () => {
    expect(settledNodes({ ...none, total: 5, completed: 2, failed: 1, cancelled: 2 })).toBe(3);
  });

  it("has no share once the job failed or was cancelled", () => {
    const counts = { ...none, total: 4, completed: 3, failed: 1 };
    expect(progressShare("failed", counts)).toBeUndefined();
    expect(progressShare("cancelled", counts)).toBeUndefined();
    expect(progressShare("running", counts)).toBe(1);
    expect(progressShare("pending", none)).toBe(0);
  });
});

describe("the time that is left", () => {
  it("is not guessed from the number of nodes: one of them may sleep for 90 minutes", () => {
    const done = Array.from({ length: 9 }, (_, at) =>
      node({ node_id: `quick ${at}`, status: "completed", completed_at: second(at) }),
    );
    const sleeping = node({ node_id: "sleep", started_at: second(10) });
    expect(timeLeft([...done, sleeping], new Map([["sleep", 10_000]]), 60_000)).toBeUndefined();
  });

  it("follows the rate of a fan-out's children, from the end of the node before it", () => {
    const children = { ...none, total: 100, completed: 20, running: 4, ready: 76 };
    const spread = node({ node_id: "spread", node_type: "fan_out", children });
    expect(timeLeft([spread], new Map([["spread", 100_000]]), 110_000)).toEqual({
      node_id: "spread",
      ms: 40_000,
    });
  });

  it("says nothing after a few children", () => {
    const children = { ...none, total: 40, completed: 5, ready: 35 };
    expect(timeLeft([node({ children })], new Map([["a", 0]]), 9000)).toBeUndefined();
  });
});

describe("attempts", () => {
  it("are counted from one, by the task", () => {
    expect(attemptNumber("job_a_node_0")).toBe(1);
    expect(attemptsOf(node({ task_id: "job_a_node_4", attempt: 4, status: "failed" }))).toBe(5);
    expect(attemptsOf(node({ task_id: null }))).toBe(0);
  });

  it("do not include the attempt that a node waits for", () => {
    expect(attemptsOf(node({ task_id: "job_a_0", attempt: 1, status: "ready" }))).toBe(1);
  });
});

it("does not call a job failed that cannot be settled for now", () => {
  expect(failureTitle("running", null)).toBe("The job cannot go on for now");
  expect(failureTitle("failed", null)).toBe("The job failed");
  expect(failureTitle("running", "a")).toBe("a failed");
});
