import { expect } from "vitest";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { createGraphCache } from "../../src/adapters/postgres/queries/graph-cache.ts";
import type { Graph } from "../../src/core/dag/graph.ts";
import { isImplicit } from "../../src/core/dag/implicit-nodes.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import { childNodeId, isSettled } from "../../src/core/model/node.ts";

export interface RecordedEvent {
  readonly seq: number;
  readonly event_type: string;
  readonly node_id: string | null;
  readonly event_data: JsonObject | null;
}

export interface ReplayedNode {
  status: string;
  attempt: number;
  retry_count: number;
}

export interface Replayed {
  status: string;
  paused: boolean;
  readonly nodes: Map<string, ReplayedNode>;
}

/** A job's state from nothing but its events. `origin` is the replay of the job it carries on. */
export function replay(
  graph: Graph,
  events: readonly RecordedEvent[],
  origin?: Replayed,
): Replayed {
  const state: Replayed = { status: "none", paused: false, nodes: new Map() };
  const move = (id: string | null, change: Partial<ReplayedNode>): void => {
    // Jobs of earlier releases have events and rows of their implicit nodes.
    if (isImplicit(id ?? "")) return;
    const node = state.nodes.get(id ?? "");
    if (node === undefined) throw new Error(`an event speaks of node ${id}, which is not there`);
    Object.assign(node, change);
  };
  const stop = (status: string): void => {
    state.status = status;
    for (const node of state.nodes.values()) {
      if (!isSettled(node.status as never)) node.status = "cancelled";
    }
  };
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) throw new Error(`event ${index + 1} is missing`);
    apply(event);
  }
  return state;

  function apply({ event_type, node_id, event_data: data }: RecordedEvent): void {
    switch (event_type) {
      case "job_created":
        state.status = "pending";
        for (const { id } of graph.nodes)
          if (!isImplicit(id)) state.nodes.set(id, blank("pending"));
        inherit((data?.["inherited"] ?? []) as readonly string[]);
        return;
      case "job_started":
        state.status = "running";
        return;
      case "job_paused":
      case "job_resumed":
        state.paused = event_type === "job_paused";
        return;
      case "job_completed":
        state.status = "completed";
        return;
      case "job_failed":
        stop("failed");
        return;
      case "job_cancelled":
        stop("cancelled");
        return;
      case "node_ready":
        move(node_id, { status: "ready" });
        return;
      case "node_dispatched":
        move(node_id, { status: "dispatched", attempt: data?.["attempt"] as number });
        return;
      case "node_expanded":
        expand(node_id ?? "", data?.["total"] as number, data?.["dispatched"] as number);
        return;
      case "node_released":
        for (let i = data?.["from"] as number; i < (data?.["to"] as number); i++) {
          move(childNodeId(node_id ?? "", i), { status: "dispatched" });
        }
        return;
      case "node_completed":
        move(node_id, { status: "completed" });
        return;
      case "node_retry": {
        const node = state.nodes.get(node_id ?? "");
        const retry_count = data?.["retry_count"] as number;
        move(node_id, { status: "ready", retry_count, attempt: (node?.attempt ?? 0) + 1 });
        return;
      }
      case "node_failed":
        move(node_id, { status: "failed" });
        return;
      case "node_skipped":
        move(node_id, { status: "skipped" });
        return;
      case "job_claimed":
      case "job_cancel_requested":
      case "result_ignored":
      case "checkpoint_saved":
        return;
      default:
        throw new Error(`replaying does not know ${event_type}`);
    }
  }

  function expand(fanOutId: string, total: number, dispatched: number): void {
    move(fanOutId, { status: "running" });
    for (let i = 0; i < total; i++) {
      state.nodes.set(childNodeId(fanOutId, i), blank(i < dispatched ? "dispatched" : "ready"));
    }
  }

  function inherit(ids: readonly string[]): void {
    for (const id of ids.filter((each) => !isImplicit(each))) {
      const before = origin?.nodes.get(id);
      if (before === undefined) throw new Error(`${id} was inherited from nowhere`);
      const isFanOut = graph.byId.get(id)?.type === "fan_out";
      const done = before.status === "completed" || before.status === "skipped";
      state.nodes.set(id, { ...before, status: done ? before.status : "running" });
      if (!isFanOut) continue;
      for (const [childId, child] of origin?.nodes ?? []) {
        if (!childId.startsWith(`${id}__`)) continue;
        state.nodes.set(childId, blank(child.status === "completed" ? "completed" : "ready"));
      }
    }
  }
}

function blank(status: string): ReplayedNode {
  return { status, attempt: 0, retry_count: 0 };
}

/** Replays a job's events and compares with what is stored. */
export async function expectReplay(db: Database, jobId: string): Promise<Replayed> {
  const { rows: jobs } = await db.query<{
    status: string;
    paused: boolean;
    rerun_of: string | null;
    workflow_hash: string;
  }>(
    `SELECT status, paused_at IS NOT NULL AS paused, rerun_of, workflow_hash
     FROM dagapp.dag_jobs WHERE job_id = $1`,
    [jobId],
  );
  const job = jobs[0];
  const graph = job && (await createGraphCache(db).graphOf(job.workflow_hash));
  if (job === undefined || graph === undefined) throw new Error(`no job ${jobId}`);
  const origin = job.rerun_of === null ? undefined : await expectReplay(db, job.rerun_of);
  const { rows: events } = await db.query<RecordedEvent>(
    `SELECT seq, event_type, node_id, event_data FROM dagapp.dag_unpacked_events
     WHERE job_id = $1 ORDER BY seq`,
    [jobId],
  );
  const replayed = replay(graph, events, origin);
  const { rows: nodes } = await db.query<ReplayedNode & { node_id: string }>(
    `SELECT node_id, status, attempt, retry_count FROM dagapp.dag_node_states WHERE job_id = $1`,
    [jobId],
  );
  const stored = Object.fromEntries(
    nodes
      .filter(({ node_id }) => !isImplicit(node_id))
      .map(({ node_id, ...rest }) => [node_id, rest]),
  );
  expect(Object.fromEntries(replayed.nodes)).toEqual(stored);
  expect({ status: replayed.status, paused: replayed.paused }).toEqual({
    status: job.status,
    paused: job.paused,
  });
  return replayed;
}
