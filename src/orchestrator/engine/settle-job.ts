import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readChildOutputs } from "../../adapters/postgres/repositories/children.ts";
import type { JobUpdate } from "../../adapters/postgres/repositories/jobs.ts";
import { version } from "../../adapters/runtime/version.ts";
import { evaluateJob } from "../../core/dag/evaluate/evaluate.ts";
import type { Evaluated } from "../../core/dag/evaluate/evaluate.ts";
import type { Facts, NodeFact, Report } from "../../core/dag/evaluate/facts.ts";
import { isImplicit, storedUnsettled } from "../../core/dag/implicit-nodes.ts";
import { isFinished } from "../../core/model/job.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { taskId } from "../../core/model/node.ts";
import { addProvenance, keepProvenance } from "../../core/model/provenance.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import { carryOut } from "./carry-out.ts";
import { keepChildOutput } from "./child-outputs.ts";
import { collect } from "./collect.ts";
import type { ReadChildren } from "./collect.ts";
import type { EngineDeps } from "./deps.ts";
import { maskErrors, maskOf } from "./hide-secrets.ts";
import { factsOf } from "./job-state.ts";
import type { JobState } from "./job-state.ts";
import { shrinkParams } from "./shrink-params.ts";
import type { WriteBatch } from "./write-batch.ts";

/** The facts of a report beside its outcome. */
export interface ResultNote {
  readonly worker_id: string | null;
  readonly started_at: string | null;
  /** The reference that the row keeps when the output itself is in storage. */
  readonly stored: ValueReference | undefined;
  /** The output of a child that completed, as it was pushed; absent: it is in the recorded result. */
  readonly output?: string | null;
}

/**
 * A placeholder for the output of a completed child. The output is not read: it goes to the node as the
 * text that was pushed, or from the recorded result within the database.
 */
export const inResult: JsonObject = Object.freeze({});

/** Why a job is evaluated: new reports, due retries, or a change that concerns all nodes. */
export interface Trigger {
  readonly now: number;
  readonly reports: Report[];
  /** By node, for the reports above. */
  readonly notes: Map<string, ResultNote>;
  /** Nodes to evaluate beside those of the reports; undefined: all nodes. */
  readonly changed: string[] | undefined;
  /** Rows of the inbox that this evaluation settles. */
  readonly inboxSeqs: number[];
  /** The job's rows are being created: changes go into them and not into updates. */
  readonly isNew: boolean;
}

/**
 * Evaluates one job until its decisions are complete, updates its state, and adds every change to the
 * batch. Only completed children are written here, before a fan-in reads their outputs, and only for
 * that is the transaction opened.
 */
export async function settleJob(
  deps: Pick<EngineDeps, "env" | "maxFanOut" | "fanOutBlock" | "outputs">,
  open: () => Promise<Transaction>,
  state: JobState,
  trigger: Trigger,
  batch: WriteBatch,
): Promise<void> {
  let facts: Facts = factsOf(state, deps, trigger.reports, trigger.changed);
  const changed = new Map<string, NodeFact>();
  const update = draftUpdate(state);
  for (;;) {
    const decided: Evaluated = evaluateJob(state.graph, facts, trigger.now);
    const mask = maskOf(state);
    const shown = mask === undefined ? decided : maskErrors(mask, decided);
    const evaluated = await shrinkParams(deps, state.row.job_id, shown);
    for (const [nodeId, fact] of evaluated.changes) {
      changed.set(nodeId, fact);
      state.nodes.set(nodeId, fact);
    }
    state.unsettled = evaluated.unsettled;
    for (const decision of evaluated.decisions) carryOut(state, decision, batch, update);
    const collects = evaluated.decisions.filter((decision) => decision.type === "collect");
    if (collects.length === 0) break;
    const ids = collects.map((decision) => decision.node_id);
    completeChildren(state, changed, trigger, batch);
    const collected = await collect(deps, readerOf(state, open, batch), state, ids);
    facts = { ...factsOf(state, deps, [], ids), collected };
  }
  completeChildren(state, changed, trigger, batch);
  await storeOwnOutputs(deps, state, changed, trigger);
  if (!trigger.isNew && !mustWrite(state, update)) {
    writeNodes(state, changed, trigger, undefined, batch);
    return;
  }
  passToHooks(state, trigger, update, batch);
  if (update.result !== undefined) update.result = await toStoredResult(deps, state, update.result);
  writeNodes(state, changed, trigger, update.result, batch);
  if (isFinished(state.status)) state.end = endOf(state, update);
  batch.jobUpdates.push({
    ...update,
    status: state.status,
    nodes_unsettled: storedUnsettled(state.graph, state.status, state.unsettled),
    event_seq: state.eventSeq,
  });
}

/** Reads the rows of children after those that have completed are written. */
function readerOf(
  { row }: JobState,
  open: () => Promise<Transaction>,
  batch: WriteBatch,
): ReadChildren {
  return async (fanOutId, from, to) => {
    const tx = await open();
    batch.writeCompleted(tx);
    return readChildOutputs(tx, row.job_id, fanOutId, from, to);
  };
}

/** Jobs with a correlation id or a callback are passed to the job hooks at their start and end. */
function passToHooks(
  state: JobState,
  { now, reports }: Trigger,
  { result, error_code, error_message }: JobUpdate,
  batch: WriteBatch,
): void {
  const { row, status } = state;
  const { job_id, workflow_id, correlation_id, callback_url, trace_parent } = row;
  if ((correlation_id ?? callback_url) === null || isFinished(row.status)) return;
  const isFirstReport = reports.length > 0 && !state.hasReports;
  state.hasReports ||= reports.length > 0;
  if (status === "completed" || status === "failed" || status === "cancelled") {
    const error = error_message === null ? null : { code: error_code, message: error_message };
    const shown = maskOf(state)?.value(result ?? null) ?? result ?? null;
    const end = { status, result: shown, error, at: now };
    batch.ended.push({ job_id, workflow_id, correlation_id, callback_url, trace_parent, ...end });
  } else if (isFirstReport && correlation_id !== null) batch.started.push(job_id);
}

/** Adds the provenance to the result; a result that is too large for a row goes to storage, with all of it. */
async function toStoredResult(
  deps: Pick<EngineDeps, "outputs">,
  { row }: JobState,
  result: Json,
): Promise<JsonObject> {
  const kept = keepProvenance(isJsonObject(result) ? result : { result }, version);
  const stored = await deps.outputs.offload(row.job_id, addProvenance(row, kept));
  return stored === undefined ? kept : keepProvenance({ ...stored }, version);
}

/** For requests that wait for the end, which are answered without a read of the database. */
function endOf(state: JobState, update: JobUpdate): JobState["end"] {
  const { result, error_code: code, error_message: message, failed_node_id: node_id } = update;
  if (message !== null) return { error: { code, message, node_id } };
  const isSmall = isJsonObject(result) && !Object.hasOwn(result, "$ref");
  if (!isSmall || state.graph.secrets !== undefined) return undefined;
  return { result: addProvenance(state.row, result) };
}

function mustWrite(state: JobState, update: JobUpdate): boolean {
  return state.eventSeq !== update.expected_event_seq || state.row.dirty;
}

/** The update of the job's row, filled while the decisions are carried out. */
export type DraftUpdate = { -readonly [Key in keyof JobUpdate]: JobUpdate[Key] };

function draftUpdate(state: JobState): DraftUpdate {
  return {
    job_id: state.row.job_id,
    status: state.status,
    nodes_unsettled: state.unsettled,
    event_seq: state.eventSeq,
    expected_event_seq: state.eventSeq,
    result: undefined,
    error_code: null,
    error_message: null,
    failed_node_id: null,
  };
}

/** Passes completed children to the statement that writes their outputs; they need no other update. */
function completeChildren(
  state: JobState,
  changed: Map<string, NodeFact>,
  { notes }: Trigger,
  batch: WriteBatch,
): void {
  const { job_id } = state.row;
  for (const [nodeId, fact] of changed) {
    if (fact.output !== inResult) continue;
    const { worker_id = null, started_at = null, output = null } = notes.get(nodeId) ?? {};
    const { attempt } = fact;
    batch.completed.push({ job_id, node_id: nodeId, attempt, output, worker_id, started_at });
    if (output !== null && fact.parent !== undefined) keepChildOutput(state, fact.parent, output);
    state.nodes.delete(nodeId);
    changed.delete(nodeId);
  }
}

/** Stores large outputs of the nodes that the orchestrator settles itself; workers store theirs. */
async function storeOwnOutputs(
  deps: Pick<EngineDeps, "outputs">,
  state: JobState,
  changed: ReadonlyMap<string, NodeFact>,
  { notes }: Trigger,
): Promise<void> {
  for (const [nodeId, { status, output }] of changed) {
    const type = state.graph.byId.get(nodeId)?.type;
    if (status !== "completed" || (type !== "fan_in" && type !== "conditional")) continue;
    const stored = output && (await deps.outputs.offload(state.row.job_id, output));
    if (stored) notes.set(nodeId, { worker_id: null, started_at: null, stored });
  }
}

function writeNodes(
  state: JobState,
  changed: ReadonlyMap<string, NodeFact>,
  { notes, isNew }: Trigger,
  result: Json | undefined,
  batch: WriteBatch,
): void {
  for (const [nodeId, fact] of changed) {
    if (fact.parent !== undefined) state.nodes.delete(nodeId);
    const note = notes.get(nodeId);
    const output = fact.status === "completed" ? note?.stored : undefined;
    state.largeBytes += output?.bytes ?? 0;
    if (isNew || isImplicit(nodeId)) continue;
    batch.nodeUpdates.push({
      job_id: state.row.job_id,
      fact: output === undefined ? fact : { ...fact, output },
      in_result: isCollectedIn(result, state, fact),
      task_id: fact.status === "dispatched" ? taskId(state.row.job_id, nodeId, fact.attempt) : null,
      worker_id: note?.worker_id ?? null,
      started_at: note?.started_at ?? null,
    });
  }
}

/** Whether the result of the job has the outputs that this fan-in has collected, under the name of the node. */
function isCollectedIn(
  result: Json | undefined,
  { graph }: JobState,
  { node_id, output }: NodeFact,
): boolean {
  if (graph.byId.get(node_id)?.type !== "fan_in" || output === undefined) return false;
  return isJsonObject(result) && Object.hasOwn(result, node_id) && result[node_id] === output;
}
