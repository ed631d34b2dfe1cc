import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { JobUpdate } from "../../adapters/postgres/repositories/jobs.ts";
import type { Decision } from "../../core/dag/evaluate/decision.ts";
import type { Evaluated } from "../../core/dag/evaluate/evaluate.ts";
import { evaluateJob } from "../../core/dag/evaluate/evaluate.ts";
import type { Facts, NodeFact, Report } from "../../core/dag/evaluate/facts.ts";
import type { FanOutNode } from "../../core/dag/compile/graph.ts";
import { isFinished } from "../../core/model/job.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { childNodeId, taskId } from "../../core/model/node.ts";
import { collect } from "./collect.ts";
import type { EngineDeps } from "./deps.ts";
import type { JobState } from "./job-state.ts";
import { factsOf } from "./job-state.ts";
import { provenance } from "./provenance.ts";
import { eventOf } from "./record-events.ts";
import type { Outgoing, WriteBatch } from "./write-batch.ts";

/** What a result says beside its outcome. */
export interface ResultNote {
  readonly worker_id: string | null;
  readonly started_at: string | null;
  /** What is stored where the output itself went to storage. */
  readonly stored: JsonObject | undefined;
}

/** Stands for the output of a child that completed: it is not read, and moved in the database. */
export const inResult: JsonObject = Object.freeze({});

export interface Occasion {
  readonly now: number;
  readonly reports: readonly Report[];
  readonly changed: readonly string[] | undefined;
  readonly notes: ReadonlyMap<string, ResultNote>;
  /** The job's rows are being created: changes go into them and not into updates. */
  readonly isNew: boolean;
}

/**
 * Evaluates one job until it is quiet, keeps its state in step, and puts every change into the
 * batch. Nothing is written here.
 */
export async function settleJob(
  deps: Pick<EngineDeps, "env" | "outputs">,
  tx: Transaction | undefined,
  state: JobState,
  occasion: Occasion,
  batch: WriteBatch,
): Promise<void> {
  let facts = factsOf(state, deps.env, occasion.reports, occasion.changed);
  const changed = new Map<string, NodeFact>();
  const stored = new Map<string, JsonObject>();
  const update = jobUpdate(state);
  for (;;) {
    const evaluated: Evaluated = evaluateJob(state.graph, facts, occasion.now);
    for (const [nodeId, fact] of evaluated.changes) {
      changed.set(nodeId, fact);
      state.nodes.set(nodeId, fact);
    }
    state.unsettled = evaluated.unsettled;
    for (const decision of evaluated.decisions) carryOut(state, decision, batch, update);
    const asked = evaluated.decisions.filter((decision) => decision.type === "collect");
    if (asked.length === 0) break;
    const ids = asked.map((decision) => decision.node_id);
    moveOutputs(state, changed, batch);
    if (tx !== undefined) batch.writeCompleted(tx);
    const collected: NonNullable<Facts["collected"]> = await collect(deps, tx, state, ids, stored);
    facts = { ...factsOf(state, deps.env, [], ids), collected };
  }
  moveOutputs(state, changed, batch);
  writeNodes(state, changed, occasion, stored, batch);
  if (!occasion.isNew && !worthWriting(state, update)) return;
  tellDomain(state, occasion, update, batch);
  if (update.result !== undefined) update.result = await keepResult(deps, state, update.result);
  batch.jobUpdates.push({
    ...update,
    status: state.status,
    nodes_unsettled: state.status === "completed" ? 0 : state.unsettled,
    event_seq: state.eventSeq,
  });
}

/** A job that is nobody's request and that nobody waits for costs the domain nothing. */
function tellDomain(
  { row, status }: JobState,
  { now, reports }: Occasion,
  { result, error_code, error_message }: JobUpdate,
  batch: WriteBatch,
): void {
  const { job_id, workflow_id, correlation_id, callback_url } = row;
  if ((correlation_id ?? callback_url) === null || isFinished(row.status)) return;
  if (status === "completed" || status === "failed" || status === "cancelled") {
    const error = error_message === null ? null : { code: error_code, message: error_message };
    const end = { status, result: result ?? null, error, at: now };
    batch.ended.push({ job_id, workflow_id, correlation_id, callback_url, ...end });
  } else if (reports.length > 0 && correlation_id !== null) batch.reported.push(job_id);
}

/** The result with its provenance; one that is too large for a row goes to storage. */
async function keepResult(
  deps: Pick<EngineDeps, "outputs">,
  { row }: JobState,
  result: Json,
): Promise<JsonObject> {
  const whole = isJsonObject(result) ? result : { result };
  const stored = await deps.outputs.offload(`${row.job_id}_result`, whole);
  return { ...(stored ?? whole), _provenance: provenance(row) };
}

function worthWriting(state: JobState, update: JobUpdate): boolean {
  return state.eventSeq !== update.event_seq || state.row.attention;
}

type Draft = { -readonly [Key in keyof JobUpdate]: JobUpdate[Key] };

function jobUpdate(state: JobState): Draft {
  return {
    job_id: state.row.job_id,
    status: state.status,
    nodes_unsettled: state.unsettled,
    event_seq: state.eventSeq,
    result: undefined,
    error_code: null,
    error_message: null,
    failed_node_id: null,
  };
}

function carryOut(state: JobState, decision: Decision, batch: WriteBatch, update: Draft): void {
  const event = eventOf(state, decision);
  if (event !== undefined) batch.events.push(event);
  switch (decision.type) {
    case "start_job":
      state.status = "running";
      return;
    case "dispatch":
      batch.messages.push(outgoing(state, decision.node_id, decision.attempt, decision.task));
      return;
    case "expand":
      expand(state, decision, batch);
      return;
    case "release":
      release(state, decision, batch);
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

function outgoing(
  state: JobState,
  nodeId: string,
  attempt: number,
  task: Omit<Outgoing["message"], "task_id" | "job_id" | "node_id" | "attempt" | "retry_count">,
): Outgoing {
  const { job_id, priority, correlation_id } = state.row;
  const message = {
    task_id: taskId(job_id, nodeId, attempt),
    job_id,
    node_id: nodeId,
    ...task,
    attempt,
    retry_count: state.nodes.get(nodeId)?.retry_count ?? 0,
    ...(correlation_id === null ? {} : { correlation_id }),
  };
  return { message, priority };
}

function expand(state: JobState, decision: Decision & { type: "expand" }, batch: WriteBatch): void {
  const { node_id, task, params, dispatched } = decision;
  const { job_id } = state.row;
  const max_retries = fanOut(state, node_id).definition.task.retry.max_attempts;
  for (const [index, one] of params.entries()) {
    const id = childNodeId(node_id, index);
    const goes = index < dispatched;
    batch.newNodes.push({
      job_id,
      node_type: "task",
      fact: {
        node_id: id,
        status: goes ? "dispatched" : "ready",
        attempt: 0,
        retry_count: 0,
        throttle_count: 0,
        params: one,
        parent: { node_id, index },
      },
      task_id: goes ? taskId(job_id, id, 0) : null,
      ...task,
      max_retries,
    });
    if (goes) batch.messages.push(outgoing(state, id, 0, { ...task, params: one }));
  }
}

function release(
  state: JobState,
  { node_id, from, to }: Decision & { type: "release" },
  batch: WriteBatch,
): void {
  const { handler, queue, timeout_seconds } = fanOut(state, node_id).definition.task;
  const task = { handler, queue, timeout_seconds };
  batch.releases.push({
    job_id: state.row.job_id,
    fan_out_id: node_id,
    from,
    to,
    toMessage: (child) =>
      outgoing(state, child.node_id, child.attempt, { ...task, params: child.input_params }),
  });
}

function fanOut(state: JobState, nodeId: string): FanOutNode {
  const node = state.graph.byId.get(nodeId);
  if (node?.type !== "fan_out") throw new Error(`${nodeId} is not a fan-out of this workflow`);
  return node;
}

/** Children that need no more than their result moved into their row. */
function moveOutputs(state: JobState, changed: Map<string, NodeFact>, batch: WriteBatch): void {
  for (const [nodeId, { output, attempt }] of changed) {
    if (output !== inResult) continue;
    batch.completed.push(taskId(state.row.job_id, nodeId, attempt));
    state.nodes.delete(nodeId);
    changed.delete(nodeId);
  }
}

function writeNodes(
  state: JobState,
  changed: ReadonlyMap<string, NodeFact>,
  { notes, isNew }: Occasion,
  stored: ReadonlyMap<string, JsonObject>,
  batch: WriteBatch,
): void {
  for (const [nodeId, fact] of changed) {
    if (fact.parent !== undefined) state.nodes.delete(nodeId);
    if (isNew) continue;
    const note = notes.get(nodeId);
    const output = stored.get(nodeId) ?? (fact.status === "completed" ? note?.stored : undefined);
    batch.nodeUpdates.push({
      job_id: state.row.job_id,
      fact: output === undefined ? fact : { ...fact, output },
      task_id: fact.status === "dispatched" ? taskId(state.row.job_id, nodeId, fact.attempt) : null,
      worker_id: note?.worker_id ?? null,
      started_at: note?.started_at ?? null,
    });
  }
}
