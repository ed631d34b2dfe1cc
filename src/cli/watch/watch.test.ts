import { describe, expect, it } from "vitest";
import type { Histogram, Job, NodeSummary } from "../../core/api/job-schemas.ts";
import { createPaint } from "../common/output.ts";
import { readConfig } from "../common/config.ts";
import { describeChanges, describeNode } from "./describe-node.ts";
import { drawTree } from "./draw-tree.ts";
import { applyMessage, viewOf } from "./job-view.ts";
import { openLiveScreen } from "./watch-job.ts";

const at = "2026-01-01T00:00:00.000Z";
const now = new Date("2026-01-01T00:01:05.000Z");

function node(id: string, over: Partial<NodeSummary> = {}): NodeSummary {
  return {
    node_id: id,
    node_type: "task",
    status: "pending",
    parent_node_id: null,
    fan_out_index: null,
    attempt: 0,
    retry_count: 0,
    max_retries: 3,
    task_id: null,
    handler: "echo",
    queue: "functionapp-tasks",
    worker_id: null,
    error: null,
    progress: null,
    wait_reason: null,
    branch: null,
    children: null,
    retry_at: null,
    created_at: at,
    dispatched_at: null,
    started_at: null,
    completed_at: null,
    ...over,
  };
}

function children(over: Partial<Histogram>): Histogram {
  const none = { pending: 0, ready: 0, dispatched: 0, running: 0, completed: 0 };
  return { total: 0, ...none, failed: 0, skipped: 0, cancelled: 0, ...over };
}

function job(nodes: NodeSummary[], over: Partial<Job> = {}): Job {
  return {
    job_id: "job-1",
    workflow_id: "tiles",
    workflow_version: "1",
    workflow_hash: "0".repeat(64),
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
    event_seq: 1,
    nodes,
    ...over,
  };
}

const paint = createPaint(readConfig({}), { isTTY: false });
const flat = (nodes: NodeSummary[]) => nodes.map(({ node_id: nodeId }) => ({ nodeId, lead: "" }));
const escape = String.fromCharCode(27);

describe("a node in words", () => {
  it("is one line for a whole fan-out", () => {
    const counts = children({ total: 10_000, completed: 6117, failed: 3, running: 40 });
    const split = node("split", { node_type: "fan_out", status: "running", children: counts });
    expect(describeNode(split, now)).toBe("▕███████░░░░░▏ 6,120/10,000 · 3 failed · 40 running");
  });

  it("has a bar while it runs", () => {
    const progress = { percent: 50, message: "warping" };
    const running = node("warp", { status: "running", progress });
    expect(describeNode(running, now)).toBe("▕██████░░░░░░▏ 50% warping");
  });

  it.each([
    [{ kind: "dependency" as const, nodes: ["a", "b", "c", "d"] }, "waits for a, b, c and 1 more"],
    [
      { kind: "retry" as const, at: "2026-01-01T00:01:08.000Z", attempt: 1 },
      "tries again in 3.0 s",
    ],
    [
      { kind: "no_worker" as const, queue: "gpu", handler: "acme.ndvi" },
      "no living worker offers acme.ndvi on queue gpu",
    ],
    [{ kind: "paused" as const }, "the job is paused"],
  ])("says why it waits: %j", (wait_reason, text) => {
    expect(describeNode(node("n", { wait_reason }), now)).toBe(text);
  });

  it("cannot write to the terminal by way of its error", () => {
    const message = `bad${escape}[2Jraster\nline`;
    const error = { code: "X", message, category: "permanent" as const };
    expect(describeNode(node("n", { status: "failed", error }), now)).toBe("X: bad [2Jraster line");
  });
});

describe("the tree", () => {
  it("shows state as glyph and word, without colour when it is no terminal", () => {
    const nodes = [
      node("a", { status: "completed", started_at: at, completed_at: "2026-01-01T00:00:03.200Z" }),
      node("b", { status: "running", started_at: at }),
    ];
    expect(drawTree(viewOf(job(nodes)), flat(nodes), { paint, now, columns: 100 })).toEqual([
      "▶ running  tiles  job-1  1 min 05 s",
      "a  ✓ completed  3.2 s",
      "b  ▶ running    1 min 05 s",
    ]);
  });

  it("fits the height: keeps what happens, and counts what it leaves out", () => {
    const nodes = Array.from({ length: 60 }, (_, index) =>
      node(`n${index}`, {
        status:
          index < 30 ? "completed" : index === 30 ? "failed" : index < 33 ? "running" : "pending",
      }),
    );
    const lines = drawTree(viewOf(job(nodes)), flat(nodes), {
      paint,
      now,
      columns: 80,
      height: 10,
    });
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines[1]).toBe("  ⋮ 30 nodes: 30 completed");
    const text = lines.join("\n");
    for (const name of ["n30", "n31", "n32"]) expect(text).toContain(`${name} `);
  });

  it("is never wider than the terminal", () => {
    const error = { code: "LONG", message: "x".repeat(500), category: "permanent" as const };
    const nodes = [node("a".repeat(70), { status: "failed", error })];
    for (const columns of [20, 40, 80, 200]) {
      const [, line = ""] = drawTree(viewOf(job(nodes)), flat(nodes), { paint, now, columns });
      expect(line.length).toBeLessThanOrEqual(columns);
    }
  });
});

describe("changes in lines", () => {
  it("are printed once each", () => {
    const before = viewOf(job([node("a"), node("b")]));
    const changed = node("a", { status: "completed" });
    const events = { type: "events" as const, seq: 4, events: [], nodes: [changed] };
    const after = applyMessage(before, events);
    expect(describeChanges(before, after, now)).toEqual(["✓ a  completed"]);
    expect(describeChanges(after, applyMessage(after, { ...events, seq: 5 }), now)).toEqual([]);
  });

  it("count a fan-out in tenths, not in children", () => {
    const view = (completed: number) =>
      viewOf(
        job([
          node("split", {
            node_type: "fan_out",
            status: "running",
            children: children({ total: 1000, completed }),
          }),
        ]),
      );
    expect(describeChanges(view(101), view(199), now)).toEqual([]);
    expect(describeChanges(view(199), view(200), now).length).toBe(1);
  });

  it("call a node running when a worker says how far it is, and only the current attempt", () => {
    const view = viewOf(job([node("a", { status: "dispatched", task_id: "job-1_a_1" })]));
    const task = {
      node_id: "a",
      worker_id: "w",
      started_at: at,
      progress_percent: 10,
      progress_message: null,
    };
    const progress = (task_id: string) =>
      applyMessage(view, { type: "progress", tasks: [{ ...task, task_id }] }).nodes.get("a")
        ?.status;
    expect(progress("job-1_a_0")).toBe("dispatched");
    expect(progress("job-1_a_1")).toBe("running");
  });
});

describe("the live screen", () => {
  it("overwrites its lines in one write, and writes nothing when nothing changed", () => {
    const writes: string[] = [];
    const screen = openLiveScreen({ write: (text) => writes.push(text) });
    screen.draw(["one", "two"]);
    screen.draw(["one", "two"]);
    screen.draw(["one"]);
    screen.close();
    expect(writes.map((text) => text.replaceAll(escape, "^"))).toEqual([
      "^[?25l",
      "\rone^[K\ntwo^[K\n^[J",
      "^[2A\rone^[K\n^[J",
      "^[?25h",
    ]);
  });
});
