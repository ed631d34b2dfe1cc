import type { NewEvent } from "../../adapters/postgres/repositories/events.ts";
import type { Decision } from "../../core/dag/evaluate/decision.ts";
import { isImplicit } from "../../core/dag/implicit-nodes.ts";
import type { EventStatus, EventType } from "../../core/model/event.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { taskId } from "../../core/model/node.ts";
import type { TaskError } from "../../core/model/task.ts";
import type { JobState } from "./job-state.ts";

interface Entry {
  readonly type: EventType;
  readonly status?: EventStatus;
  readonly node_id?: string | undefined;
  readonly task_id?: string;
  readonly data?: JsonObject;
}

/** Numbers the next event of a job. The row lock of the job makes the numbers free of gaps. */
export function nextEvent(state: JobState, entry: Entry): NewEvent {
  state.eventSeq += 1;
  return {
    job_id: state.row.job_id,
    seq: state.eventSeq,
    event_type: entry.type,
    event_status: entry.status ?? "info",
    node_id: entry.node_id ?? null,
    task_id: entry.task_id ?? null,
    event_data: entry.data ?? null,
  };
}

/**
 * Answers the event of a decision. Its consequences (the children of an expansion, the cancelled nodes
 * of a failed job) and the implicit nodes get no events: a replay derives them, and ten thousand rows are
 * saved.
 */
export function eventOf(state: JobState, decision: Decision): NewEvent | undefined {
  const entry = entryOf(state.row.job_id, decision);
  return entry === undefined ? undefined : nextEvent(state, entry);
}

/**
 * Numbers the event of a child that completed. Children of one fan-out that complete together share a
 * row, from which each is read by itself: a task then costs four bytes of history and no index entry.
 */
export function addChildEvent(
  state: JobState,
  { node_id, index }: { readonly node_id: string; readonly index: number },
  events: NewEvent[],
): void {
  const last = events.at(-1);
  const { job_id } = state.row;
  if (last?.children === undefined || last.job_id !== job_id || last.node_id !== node_id) {
    const event = nextEvent(state, { type: "node_completed", status: "success", node_id });
    events.push({ ...event, children: [index] });
    return;
  }
  state.eventSeq += 1;
  last.seq = state.eventSeq;
  last.children.push(index);
}

function entryOf(jobId: string, decision: Decision): Entry | undefined {
  switch (decision.type) {
    case "start_job":
      return { type: "job_started" };
    case "skip":
      if (isImplicit(decision.node_id)) return undefined;
      return { type: "node_skipped", node_id: decision.node_id, data: { reason: decision.reason } };
    case "complete":
      if (isImplicit(decision.node_id)) return undefined;
      return { type: "node_completed", status: "success", node_id: decision.node_id };
    case "ready":
      return { type: "node_ready", node_id: decision.node_id };
    case "dispatch": {
      const { node_id, attempt, task } = decision;
      const data = { attempt, queue: task.queue, handler: task.handler };
      return { type: "node_dispatched", node_id, task_id: taskId(jobId, node_id, attempt), data };
    }
    case "expand": {
      const { node_id, from, total, dispatched } = decision;
      // A child without a row is one that waits: only its dispatch is an event.
      if (from > 0)
        return { type: "node_released", node_id, data: { from, to: from + dispatched } };
      return { type: "node_expanded", node_id, data: { total, dispatched } };
    }
    case "release": {
      const { node_id, from, to } = decision;
      return { type: "node_released", node_id, data: { from, to } };
    }
    case "retry": {
      const { node_id, error, retry_at, retry_count, throttle_count } = decision;
      const at = new Date(retry_at).toISOString();
      const data = { error: toJson(error), retry_at: at, retry_count, throttle_count };
      return { type: "node_retry", status: "warning", node_id, data };
    }
    case "fail": {
      const data = { error: toJson(decision.error) };
      return { type: "node_failed", status: "error", node_id: decision.node_id, data };
    }
    case "ignore": {
      const { node_id, task_id, reason } = decision;
      return { type: "result_ignored", status: "warning", node_id, task_id, data: { reason } };
    }
    case "complete_job":
      return { type: "job_completed", status: "success" };
    case "fail_job": {
      const data = { error: toJson(decision.error) };
      return { type: "job_failed", status: "error", node_id: decision.node_id, data };
    }
    case "cancel_job":
      return { type: "job_cancelled", status: "warning", data: { reason: decision.reason } };
    // Answered within the same tick, which then records the completion of the node.
    case "collect":
      return undefined;
  }
}

function toJson({ code, message, category, details }: TaskError): JsonObject {
  return { code, message, category, ...(details === undefined ? {} : { details }) };
}
