import type { JobEvent, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import type { Status } from "../../shared/status.tsx";
import { attemptNumber, attemptsOf } from "../../../../src/core/model/attempts.ts";

/** A period of a node: waiting in its queue, running, or waiting for a retry. */
export interface Segment {
  readonly kind: "wait" | "run" | "retry";
  readonly from: number;
  readonly to: number;
  readonly status: Status;
  readonly title: string;
}

export interface Attempt {
  readonly task_id: string;
  readonly status: "completed" | "failed";
  readonly started_at: string | null;
  readonly reported_at: string;
}

/** The segments of a node with one attempt, from the times of the node itself. */
export function segmentsOf(node: NodeSummary, now: number, readyAt?: number): Segment[] {
  const queued = time(node.dispatched_at);
  const started = time(node.started_at) ?? startOfFanOut(node, readyAt);
  const ended = time(node.completed_at);
  const segments: Segment[] = [];
  if (queued !== undefined) {
    const to = started ?? ended ?? now;
    segments.push({ kind: "wait", from: queued, to, status: "dispatched", title: "in the queue" });
  }
  const from = started ?? (queued === undefined ? ended : undefined);
  if (from !== undefined) {
    const title = attemptsOf(node) > 1 ? `attempt ${attemptsOf(node)}` : node.status;
    segments.push({ kind: "run", from, to: ended ?? now, status: node.status, title });
  }
  return segments;
}

/** A fan-out has no task of its own: it runs from the end of the nodes before it. */
function startOfFanOut(
  { node_type, status, completed_at }: NodeSummary,
  readyAt: number | undefined,
): number | undefined {
  if (node_type !== "fan_out") return undefined;
  return status === "running" || completed_at !== null ? readyAt : undefined;
}

/** When the nodes before each node had ended; nodes that still wait for one are left out. */
export function readyTimes(
  nodes: readonly NodeSummary[],
  edges: readonly { readonly from: string; readonly to: string }[],
): ReadonlyMap<string, number> {
  const ended = new Map(nodes.map(({ node_id, completed_at }) => [node_id, time(completed_at)]));
  const ready = new Map<string, number>();
  for (const { from, to } of edges) {
    const at = ended.get(from);
    if (at !== undefined) ready.set(to, Math.max(ready.get(to) ?? 0, at));
  }
  return ready;
}

/** The segments of a node with several attempts, and the waits for a retry between them. */
export function segmentsOfAttempts(
  node: NodeSummary,
  attempts: readonly Attempt[],
  events: readonly JobEvent[],
  now: number,
): Segment[] {
  const queuedAt = new Map(
    events
      .filter(({ event_type, task_id }) => event_type === "node_dispatched" && task_id !== null)
      .map((event) => [event.task_id, Date.parse(event.created_at)]),
  );
  const tried = [...attempts].sort((a, b) => a.reported_at.localeCompare(b.reported_at));
  const segments: Segment[] = [];
  let last: number | undefined;
  for (const attempt of tried) {
    const ended = Date.parse(attempt.reported_at);
    const started = time(attempt.started_at) ?? ended;
    const queued = queuedAt.get(attempt.task_id) ?? started;
    if (last !== undefined) segments.push(retryWait(last, queued));
    segments.push({
      kind: "wait",
      from: queued,
      to: started,
      status: "dispatched",
      title: "in the queue",
    });
    const title = `attempt ${attemptNumber(attempt.task_id)}: ${attempt.status}`;
    segments.push({ kind: "run", from: started, to: ended, status: attempt.status, title });
    last = ended;
  }
  const current = node.completed_at === null ? segmentsOf(node, now) : [];
  const begin = current[0]?.from;
  if (last !== undefined && node.completed_at === null) {
    segments.push(retryWait(last, begin !== undefined && begin > last ? begin : now));
  }
  return [...segments, ...current.filter(({ from }) => last === undefined || from >= last)];
}

function retryWait(from: number, to: number): Segment {
  return { kind: "retry", from, to, status: "retrying", title: "waits to retry" };
}

function time(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text);
}

/**
 * The chain of nodes that determined the duration of the job: from the node that ended last back to
 * the start, each time along the predecessor that ended last.
 */
export function criticalPath(
  nodes: readonly NodeSummary[],
  edges: readonly { readonly from: string; readonly to: string }[],
): ReadonlySet<string> {
  const ended = new Map(
    nodes.flatMap(({ node_id, status, completed_at }) =>
      completed_at === null || status === "skipped" || status === "cancelled"
        ? []
        : [[node_id, Date.parse(completed_at)] as const],
    ),
  );
  const before = new Map<string, string[]>();
  for (const { from, to } of edges) before.set(to, [...(before.get(to) ?? []), from]);
  const path = new Set<string>();
  let here = latest([...ended.keys()], ended);
  while (here !== undefined && !path.has(here)) {
    path.add(here);
    here = latest(
      (before.get(here) ?? []).filter((id) => ended.has(id)),
      ended,
    );
  }
  return path;
}

function latest(ids: readonly string[], ended: ReadonlyMap<string, number>): string | undefined {
  let best: string | undefined;
  // On a tie the later node in the order of the graph wins: an end node settles together with its
  // last predecessor.
  for (const id of ids) {
    if (best === undefined || (ended.get(id) ?? 0) >= (ended.get(best) ?? 0)) best = id;
  }
  return best;
}
