import type { Decision } from "../../core/dag/evaluate/decision.ts";
import type { FanOutNode } from "../../core/dag/graph.ts";
import type { TaskMessage } from "../../core/messages.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { childNodeId, taskId } from "../../core/model/node.ts";
import { runsAlone } from "../../core/model/task.ts";
import { secretsIn } from "./hide-secrets.ts";
import type { JobState } from "./job-state.ts";
import { addChildEvent, eventOf } from "./record-events.ts";
import { traceOfTask } from "./trace-jobs.ts";
import type { DraftUpdate } from "./settle-job.ts";
import type { Outgoing, WriteBatch } from "./write-batch.ts";

/** Adds the rows of one decision to the batch, and updates the job's state and draft. */
export function carryOut(
  state: JobState,
  decision: Decision,
  batch: WriteBatch,
  update: DraftUpdate,
): void {
  const child = decision.type === "complete" ? state.nodes.get(decision.node_id) : undefined;
  if (child?.parent !== undefined) {
    addChildEvent(state, child.parent, batch.events);
    return;
  }
  const event = eventOf(state, decision);
  if (event !== undefined) batch.events.push(event);
  switch (decision.type) {
    case "start_job":
      state.status = "running";
      return;
    case "dispatch":
      batch.messages.push(toOutgoing(state, decision.node_id, decision.attempt, decision.task));
      return;
    case "expand":
      addChildren(state, decision, batch);
      return;
    case "release":
      addRelease(state, decision, batch);
      return;
    case "complete_job":
      state.status = "completed";
      update.result = decision.result;
      return;
    case "fail_job":
      state.status = "failed";
      update.error_code = decision.error.code;
      update.error_message = decision.error.message;
      update.failed_node_id = decision.node_id ?? null;
      batch.stopped.push(state.row.job_id);
      return;
    case "cancel_job":
      state.status = "cancelled";
      update.error_message = decision.reason;
      batch.stopped.push(state.row.job_id);
      return;
    case "skip":
    case "complete":
    case "ready":
    case "collect":
    case "retry":
    case "fail":
    case "ignore":
      return;
  }
}

interface Task {
  readonly handler: string;
  readonly queue: string;
  readonly timeout_seconds: number;
  readonly params: JsonObject;
}

/** `json` is the text of the parameters; `headers` can be shared by all children of a fan-out. */
function toOutgoing(
  state: JobState,
  nodeId: string,
  attempt: number,
  task: Task,
  json = JSON.stringify(task.params),
  headers = headersOf(task),
): Outgoing {
  const { job_id, priority, correlation_id, trace_parent } = state.row;
  const { handler, queue, timeout_seconds, params } = task;
  const secrets = secretsIn(state, nodeId, params);
  const id = taskId(job_id, nodeId, attempt);
  const node = state.nodes.get(nodeId);
  const message: { -readonly [Key in keyof Omit<TaskMessage, "params">]: TaskMessage[Key] } = {
    task_id: id,
    job_id,
    node_id: nodeId,
    handler,
    queue,
    timeout_seconds,
    attempt,
    retry_count: node?.retry_count ?? 0,
  };
  // Added one by one: a literal with spreads takes V8 a microsecond, and every task has a message.
  if (correlation_id !== null) message.correlation_id = correlation_id;
  if (secrets.length > 0) message.secrets = secrets;
  if (trace_parent !== null) Object.assign(message, traceOfTask(job_id, nodeId, trace_parent));
  // The parameters are the larger part of most messages, and are written as JSON once.
  const body = `${JSON.stringify(message).slice(0, -1)},"params":${json}}`;
  const outgoing = { id, group: job_id, body, priority, headers };
  return { queue, message: runsAlone(node?.error) ? { ...outgoing, alone: true } : outgoing };
}

function headersOf({ timeout_seconds, handler }: Omit<Task, "params">) {
  return { timeout_seconds, handler };
}

function addChildren(
  state: JobState,
  decision: Decision & { type: "expand" },
  batch: WriteBatch,
): void {
  const { node_id, task, from, params, dispatched } = decision;
  const max_retries = fanOutOf(state, node_id).definition.task.retry.max_attempts;
  const texts = params.map((childParams) => JSON.stringify(childParams));
  const fanOut = { job_id: state.row.job_id, fan_out_id: node_id, ...task, max_retries };
  batch.newChildren.push({ ...fanOut, from, params: texts, dispatched });
  const headers = headersOf(task);
  for (const [place, childParams] of params.slice(0, dispatched).entries()) {
    const child = { ...task, params: childParams };
    const id = childNodeId(node_id, from + place);
    batch.messages.push(toOutgoing(state, id, 0, child, texts[place], headers));
  }
}

function addRelease(
  state: JobState,
  { node_id, from, to }: Decision & { type: "release" },
  batch: WriteBatch,
): void {
  const { handler, queue, timeout_seconds } = fanOutOf(state, node_id).definition.task;
  const task = { handler, queue, timeout_seconds };
  batch.releases.push({
    job_id: state.row.job_id,
    fan_out_id: node_id,
    from,
    to,
    toMessage: (child) =>
      toOutgoing(state, child.node_id, child.attempt, { ...task, params: child.input_params }),
  });
}

function fanOutOf(state: JobState, nodeId: string): FanOutNode {
  const node = state.graph.byId.get(nodeId);
  if (node?.type !== "fan_out") throw new Error(`${nodeId} is not a fan-out of this workflow`);
  return node;
}
