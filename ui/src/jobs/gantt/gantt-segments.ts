import type { JobEvent, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import type { Status } from "../../shared/status.ts";

/** A stretch of a node's time: it waits in its queue, runs, or waits to try again. */
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

/** Of a node that was tried once, its own times say all. */
export function segmentsOf(node: NodeSummary, now: number): Segment[] {
  const queued = time(node.dispatched_at);
  const started = time(node.started_at);
  const ended = time(node.completed_at);
  const segments: Segment[] = [];
  if (queued !== undefined) {
    const to = started ?? ended ?? now;
    segments.push({ kind: "wait", from: queued, to, status: "dispatched", title: "in the queue" });
  }
  const from = started ?? (queued === undefined ? ended : undefined);
  if (from !== undefined) {
    const title = node.attempt > 1 ? `attempt ${node.attempt}` : node.status;
    segments.push({ kind: "run", from, to: ended ?? now, status: node.status, title });
  }
  return segments;
}

/** Of a node with several attempts: one bar for each, and the pauses between them. */
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
  for (const [at, attempt] of tried.entries()) {
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
    const title = `attempt ${at + 1}: ${attempt.status}`;
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
  return { kind: "retry", from, to, status: "retrying", title: "waits to try again" };
}

function time(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text);
}
