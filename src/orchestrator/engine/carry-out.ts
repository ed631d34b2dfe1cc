import type { Decision } from "../../core/dag/evaluate/decision.ts";
import type { FanOutNode } from "../../core/dag/graph.ts";
import { childNodeId, taskId } from "../../core/model/node.ts";
import { runsAlone } from "../../core/model/task.ts";
import { secretsIn } from "./hide-secrets.ts";
import type { JobState } from "./job-state.ts";
import { addChildEvent, eventOf } from "./record-events.ts";
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

function toOutgoing(
  state: JobState,
  nodeId: string,
  attempt: number,
  task: Omit<Outgoing["message"], "task_id" | "job_id" | "node_id" | "attempt" | "retry_count">,
): Outgoing {
  const { job_id, priority, correlation_id } = state.row;
  const secrets = secretsIn(state, nodeId, task.params);
  const message = {
    task_id: taskId(job_id, nodeId, attempt),
    job_id,
    node_id: nodeId,
    ...task,
    attempt,
    retry_count: state.nodes.get(nodeId)?.retry_count ?? 0,
    ...(correlation_id === null ? {} : { correlation_id }),
    ...(secrets.length === 0 ? {} : { secrets }),
  };
  return { message, priority, alone: runsAlone(state.nodes.get(nodeId)?.error) };
}

function addChildren(
  state: JobState,
  decision: Decision & { type: "expand" },
  batch: WriteBatch,
): void {
  const { node_id, task, from, params, dispatched } = decision;
  const { job_id } = state.row;
  const max_retries = fanOutOf(state, node_id).definition.task.retry.max_attempts;
  for (const [place, childParams] of params.entries()) {
    const index = from + place;
    const id = childNodeId(node_id, index);
    const isDispatched = place < dispatched;
    batch.newNodes.push({
      job_id,
      node_type: "task",
      fact: {
        node_id: id,
        status: isDispatched ? "dispatched" : "ready",
        attempt: 0,
        retry_count: 0,
        throttle_count: 0,
        params: childParams,
        parent: { node_id, index },
      },
      task_id: isDispatched ? taskId(job_id, id, 0) : null,
      ...task,
      max_retries,
    });
    if (isDispatched) {
      batch.messages.push(toOutgoing(state, id, 0, { ...task, params: childParams }));
    }
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
