/**
 * Reads the work of a tick from its two sources, in one form: reports that workers pushed, and
 * everything that waits in the database.
 */
import type { PushedReport } from "../../adapters/broker/broker.ts";
import type { Queryable, Transaction } from "../../adapters/postgres/queryable.ts";
import type { JobHead } from "../../adapters/postgres/repositories/jobs.ts";
import { readInputs, readRunningHeads } from "../../adapters/postgres/repositories/jobs.ts";
import type { NodeOfJob } from "../../adapters/postgres/repositories/nodes.ts";
import {
  loadDueChildren,
  loadNodes,
  loadStaticNodes,
} from "../../adapters/postgres/repositories/nodes.ts";
import type { JobFilter, WaitingResult, Work } from "../../adapters/postgres/repositories/work.ts";
import { findWork } from "../../adapters/postgres/repositories/work.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import { countUnsettled, implicitFacts, isImplicit } from "../../core/dag/implicit-nodes.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { parentOfChild, taskId } from "../../core/model/node.ts";
import type { TaskError } from "../../core/model/task.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import { isReference } from "../../core/model/value-reference.ts";
import type { EngineDeps } from "./deps.ts";
import { graphOfJob } from "./deps.ts";
import type { JobState } from "./job-state.ts";
import type { Trigger } from "./settle-job.ts";
import { inResult } from "./settle-job.ts";

/** One job of a tick. */
export interface JobWork {
  readonly state: JobState;
  readonly trigger: Trigger;
  /** Children that this tick evaluates; they are not part of the cached state. */
  readonly children: NodeFact[];
}

/** Results that one transaction settles: a larger batch would only delay the next one. */
export const batchSize = 1000;

/**
 * Takes the states of the jobs of pushed reports: from `held`, from the cache, or from the database where
 * a job is in neither. A report is `unknown` when the state does not suffice to evaluate it: its job has ended,
 * belongs to another orchestrator, has other work that waits or could not be settled a moment ago; it is
 * not of the current attempt, or it is of a child that failed or was retried. Workers write unknown
 * reports to the database.
 */
export async function takePushed(
  deps: EngineDeps,
  reports: readonly PushedReport[],
  now: number,
  held: (jobId: string) => JobState | undefined,
): Promise<{ jobs: readonly JobWork[]; known: PushedReport[]; unknown: PushedReport[] }> {
  const jobs = new Map<string, JobWork>();
  for (const state of await statesOf(deps, new Set(reports.map(({ job_id }) => job_id)), held)) {
    jobs.set(state.row.job_id, { state, trigger: emptyTrigger(now, []), children: [] });
  }
  const known: PushedReport[] = [];
  const unknown: PushedReport[] = [];
  for (const report of reports) {
    const job = jobs.get(report.job_id);
    // A report that is no JSON is unknown: the database refuses it when its worker writes it.
    const isKnown =
      job !== undefined &&
      isCurrent(job, report) &&
      (addChild(job, report) || (await addReport(deps, job, report).catch(() => false)));
    (isKnown ? known : unknown).push(report);
  }
  for (const [jobId, { state, trigger }] of jobs) {
    if (trigger.reports.length > 0) continue;
    const isElsewhere = held(jobId) !== undefined || deps.cache.isDoubted(jobId);
    if (!isElsewhere && !isFinished(state.status)) deps.cache.keep(state);
    jobs.delete(jobId);
  }
  return { jobs: [...jobs.values()], known, unknown };
}

/**
 * The states of these jobs. A backlog can have more jobs than the cache holds, and its oldest, which
 * run first, have left it. The heads are read before the nodes: where another writer changes a job in
 * between, the commit finds that the number of its last event is not that of the head.
 */
async function statesOf(
  deps: EngineDeps,
  jobIds: ReadonlySet<string>,
  held: (jobId: string) => JobState | undefined,
): Promise<readonly JobState[]> {
  const states: JobState[] = [];
  const missing: string[] = [];
  for (const jobId of jobIds) {
    const state = held(jobId) ?? deps.cache.take(jobId);
    if (state !== undefined) states.push(state);
    else if (!deps.cache.isDoubted(jobId)) missing.push(jobId);
  }
  if (missing.length === 0) return states;
  try {
    const heads = await readRunningHeads(deps.db, missing, deps.ownerId);
    return [...states, ...(await loadStates(deps, deps.db, heads)).values()];
  } catch {
    // Their reports are unknown; the tick that reads them from the database says what is wrong.
    return states;
  }
}

function emptyTrigger(now: number, changed: string[] | undefined): Trigger {
  return { now, reports: [], notes: new Map(), changed, inboxSeqs: [], isNew: false };
}

function isCurrent({ state, trigger }: JobWork, { node_id }: PushedReport): boolean {
  return state.status === "running" && !trigger.notes.has(node_id);
}

/** Adds the report of a child that completed at its first attempt; answers false for any other. */
function addChild({ state, trigger, children }: JobWork, report: PushedReport): boolean {
  const { job_id, node_id, task_id, worker_id, started_at, status, output } = report;
  if (status !== "completed" || state.nodes.has(node_id)) return false;
  const child = firstAttempt(state, node_id);
  if (child === undefined || task_id !== taskId(job_id, node_id, 0)) return false;
  children.push(child);
  trigger.reports.push({ task_id, node_id, outcome: { status: "completed", output: inResult } });
  trigger.notes.set(node_id, { worker_id, started_at, stored: undefined, output });
  return true;
}

/** Adds the report of a cached node. Answers false for an unknown report, which adds nothing. */
async function addReport(
  deps: EngineDeps,
  { state, trigger }: JobWork,
  report: PushedReport,
): Promise<boolean> {
  const { job_id, node_id, task_id, worker_id, started_at } = report;
  const node = state.nodes.get(node_id);
  if (node?.status !== "dispatched" || task_id !== taskId(job_id, node_id, node.attempt)) {
    return false;
  }
  const output = report.output === null ? null : (JSON.parse(report.output) as JsonObject);
  const error = report.error === null ? null : (JSON.parse(report.error) as TaskError);
  await addOutcome(deps, trigger, { task_id, node_id, worker_id, started_at, output, error });
  return true;
}

/** Children are not cached: the fact of a first attempt is constant, so it is built here. */
function firstAttempt(state: JobState, nodeId: string): NodeFact | undefined {
  const parent = parentOfChild(nodeId);
  if (parent === undefined || state.graph.byId.get(parent.node_id)?.type !== "fan_out") {
    return undefined;
  }
  return {
    node_id: nodeId,
    status: "dispatched",
    attempt: 0,
    retry_count: 0,
    throttle_count: 0,
    parent,
  };
}

type NodeOutcome = Pick<WaitingResult, "task_id" | "node_id" | "worker_id" | "started_at"> & {
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
};

async function addOutcome(
  deps: Pick<EngineDeps, "outputs">,
  trigger: Trigger,
  { task_id, node_id, worker_id, started_at, output, error }: NodeOutcome,
): Promise<void> {
  let stored: ValueReference | undefined;
  if (output !== null) {
    const resolved = await deps.outputs.resolve(output);
    if (isReference(output)) stored = output;
    const outcome = { status: "completed" as const, output: resolved };
    trigger.reports.push({ task_id, node_id, outcome });
  } else if (error !== null) {
    trigger.reports.push({ task_id, node_id, outcome: { status: "failed", error } });
  }
  trigger.notes.set(node_id, { worker_id, started_at, stored });
}

/** Locks the jobs with waiting work, names them in `locked`, and reads the work and their states. */
export async function takeWaiting(
  deps: EngineDeps,
  tx: Transaction,
  filter: JobFilter,
  locked: string[],
): Promise<{ jobs: readonly JobWork[]; work: Work }> {
  const work = await findWork(tx, deps.ownerId, batchSize, filter);
  deps.databaseClock.observe(work.now);
  locked.splice(0, Infinity, ...work.jobs.map((job) => job.job_id));
  const states = await loadStates(deps, tx, work.jobs);
  const jobs = new Map<string, JobWork>();
  for (const state of states.values()) {
    // A dirty job is evaluated whole.
    const changed = state.row.dirty ? undefined : [];
    jobs.set(state.row.job_id, { state, trigger: emptyTrigger(work.now, changed), children: [] });
  }
  for (const { job_id, node_id } of work.due) jobs.get(job_id)?.trigger.changed?.push(node_id);
  for (const result of work.results) {
    const job = jobs.get(result.job_id);
    if (job === undefined) continue;
    job.trigger.inboxSeqs.push(result.seq);
    await addResult(deps, job, result);
  }
  for (const { job_id, ...child } of await loadChildren(tx, work, states)) {
    jobs.get(job_id)?.children.push(child);
  }
  return { jobs: [...jobs.values()], work };
}

async function addResult(
  deps: EngineDeps,
  { trigger, children }: JobWork,
  result: WaitingResult,
): Promise<void> {
  const { task_id, node_id, worker_id, started_at, child } = result;
  if (child !== null) children.push(child);
  if (child !== null && result.status === "completed") {
    trigger.reports.push({ task_id, node_id, outcome: { status: "completed", output: inResult } });
    trigger.notes.set(node_id, { worker_id, started_at, stored: undefined });
  } else await addOutcome(deps, trigger, result);
}

async function loadStates(
  deps: EngineDeps,
  db: Queryable,
  heads: readonly JobHead[],
): Promise<Map<string, JobState>> {
  const states = new Map<string, JobState>();
  const missing: JobHead[] = [];
  for (const head of heads) {
    const cached = deps.cache.take(head.job_id);
    if (cached?.eventSeq !== head.event_seq) missing.push(head);
    else states.set(head.job_id, { ...cached, row: { ...cached.row, ...head } });
  }
  if (missing.length === 0) return states;
  const ids = missing.map((head) => head.job_id);
  const [inputs, facts] = await Promise.all([readInputs(db, ids), loadStaticNodes(db, ids)]);
  for (const head of missing) {
    const row = { ...head, input_params: inputs.get(head.job_id) ?? {} };
    states.set(head.job_id, {
      row,
      graph: await graphOfJob(deps, row.workflow_hash),
      nodes: new Map(),
      status: row.status,
      unsettled: row.nodes_unsettled,
      eventSeq: row.event_seq,
      hasReports: false,
      largeBytes: 0,
    });
  }
  for (const { job_id, ...fact } of facts) {
    const state = states.get(job_id);
    // Jobs of earlier releases have rows for their implicit nodes.
    if (state === undefined || isImplicit(fact.node_id)) continue;
    const output = fact.output && (await deps.outputs.resolve(fact.output));
    if (isReference(fact.output)) state.largeBytes += fact.output.bytes;
    state.nodes.set(fact.node_id, { ...fact, output });
  }
  for (const { job_id } of missing) {
    const state = states.get(job_id);
    if (state === undefined) continue;
    const { graph, status, nodes } = state;
    for (const fact of implicitFacts(graph, status, nodes)) nodes.set(fact.node_id, fact);
    // The row of a job that has ended keeps how many were left.
    if (!isFinished(status)) state.unsettled = countUnsettled(graph, nodes);
  }
  return states;
}

/** Loads the children whose retry is due: those that `work.due` names, and all of dirty jobs. */
async function loadChildren(
  tx: Transaction,
  work: Work,
  states: ReadonlyMap<string, JobState>,
): Promise<readonly NodeOfJob[]> {
  const due = work.due.filter(({ job_id, node_id }) => {
    const state = states.get(job_id);
    return state !== undefined && !state.nodes.has(node_id);
  });
  const dirty = work.jobs.filter((job) => job.dirty).map(({ job_id }) => job_id);
  return [
    ...(due.length === 0 ? [] : await loadNodes(tx, due)),
    ...(dirty.length === 0 ? [] : await loadDueChildren(tx, dirty)),
  ];
}
