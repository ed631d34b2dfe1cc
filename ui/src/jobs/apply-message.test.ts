import { describe, expect, it } from "vitest";
import type { Job, JobEvent, NodeSummary } from "../../../src/core/api/job-schemas.ts";
import { applyMessage, startLive } from "./apply-message.ts";

const at = "2026-01-01T00:00:00.000Z";

function node(node_id: string, over: Partial<NodeSummary> = {}): NodeSummary {
  return {
    node_id,
    node_type: "task",
    status: "dispatched",
    parent_node_id: null,
    fan_out_index: null,
    attempt: 1,
    retry_count: 0,
    max_retries: 3,
    task_id: `t_${node_id}`,
    handler: "echo",
    queue: "q",
    worker_id: null,
    error: null,
    progress: null,
    wait_reason: { kind: "queued", queue: "q" },
    branch: null,
    children: null,
    retry_at: null,
    created_at: at,
    dispatched_at: at,
    started_at: null,
    completed_at: null,
    ...over,
  };
}

function job(nodes: NodeSummary[]): Job {
  return {
    job_id: "j",
    workflow_id: "w",
    workflow_version: "1",
    workflow_hash: "h",
    status: "running",
    paused: false,
    cancel_requested: false,
    cancel_reason: null,
    priority: 0,
    correlation_id: null,
    submitted_by: null,
    rerun_of: null,
    trace_id: null,
    trace_url: null,
    owner_id: null,
    nodes_total: nodes.length,
    nodes_settled: 0,
    error: null,
    created_at: at,
    started_at: at,
    updated_at: at,
    completed_at: null,
    input_params: {},
    result_data: null,
    callback_url: null,
    idempotency_key: null,
    metadata: {},
    event_seq: 3,
    nodes,
  };
}

function event(seq: number, over: Pick<JobEvent, "event_type" | "node_id">): JobEvent {
  return {
    seq,
    event_status: "success",
    task_id: null,
    checkpoint_name: null,
    event_data: null,
    created_at: at,
    ...over,
  };
}

const task = {
  node_id: "a",
  task_id: "t_a",
  worker_id: "light",
  started_at: at,
  progress_percent: 40,
  progress_message: "half way",
};

describe("a job on the screen", () => {
  it("shows a queued node as running once a worker holds its task", () => {
    const live = applyMessage(startLive(job([node("a"), node("b")])), {
      type: "progress",
      tasks: [task],
    });
    expect(live.job.nodes.map(({ status }) => status)).toEqual(["running", "dispatched"]);
    expect(live.job.nodes[0]).toMatchObject({ worker_id: "light", wait_reason: null });
  });

  it("leaves a node alone that is settled, or that waits for another attempt", () => {
    const settled = node("a", { status: "completed" });
    const later = node("a", { task_id: "t_a_2" });
    for (const given of [settled, later]) {
      const live = applyMessage(startLive(job([given])), { type: "progress", tasks: [task] });
      expect(live.job.nodes).toEqual([given]);
    }
  });

  it("follows the events: nodes by their new state, the job by its own", () => {
    const live = applyMessage(startLive(job([node("a"), node("b")])), {
      type: "events",
      seq: 5,
      events: [
        event(4, { event_type: "node_completed", node_id: "a" }),
        event(5, { event_type: "job_completed", node_id: null }),
      ],
      nodes: [node("a", { status: "completed" })],
    });
    expect(live.seq).toBe(5);
    expect(live.job).toMatchObject({ status: "completed", completed_at: at });
    expect(live.job.nodes.map(({ status }) => status)).toEqual(["completed", "dispatched"]);
  });

  it("is paused by one event and resumed by another", () => {
    const paused = applyMessage(startLive(job([node("a")])), {
      type: "events",
      seq: 4,
      events: [event(4, { event_type: "job_paused", node_id: null })],
      nodes: [],
    });
    expect(paused.job.paused).toBe(true);
    const resumed = applyMessage(paused, {
      type: "events",
      seq: 6,
      events: [
        event(5, { event_type: "node_completed", node_id: "a" }),
        event(6, { event_type: "job_resumed", node_id: null }),
      ],
      nodes: [],
    });
    expect(resumed.job.paused).toBe(false);
  });

  it("refuses a stream that does not begin with a snapshot", () => {
    expect(() => applyMessage(undefined, { type: "progress", tasks: [] })).toThrow(/snapshot/);
  });
});
