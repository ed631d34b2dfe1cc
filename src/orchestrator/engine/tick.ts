import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readInputs } from "../../adapters/postgres/repositories/jobs.ts";
import type { JobHead } from "../../adapters/postgres/repositories/jobs.ts";
import {
  loadDueChildren,
  loadNodes,
  loadStaticNodes,
  toFact,
} from "../../adapters/postgres/repositories/nodes.ts";
import type { TaskResultRow, Which, Work } from "../../adapters/postgres/repositories/work.ts";
import { findWork } from "../../adapters/postgres/repositories/work.ts";
import { recordTold } from "../../adapters/postgres/repositories/reports.ts";
import type { Settled } from "../../adapters/broker/broker.ts";
import { isOutage } from "../../adapters/postgres/outage.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { Report } from "../../core/dag/evaluate/facts.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isFinished } from "../../core/model/job.ts";
import type { EngineDeps } from "./deps.ts";
import { graphOfJob } from "./deps.ts";
import type { JobState } from "./job-state.ts";
import type { ResultNote } from "./settle-job.ts";
import { inResult, settleJob } from "./settle-job.ts";
import { Handing } from "../links/handing.ts";
import type { Told } from "../links/links.ts";
import { WriteBatch } from "./write-batch.ts";

/** Results that one transaction takes: more would only make the next one wait longer. */
export const batchSize = 1000;

export interface TickReport {
  readonly results: number;
  readonly jobs: number;
  /** There may be more waiting: tick again at once. */
  readonly more: boolean;
  /** When the next retry falls due; null: none is planned. */
  readonly next_due_ms: number | null;
}

/**
 * One transaction settles many jobs: find what waits, lock those jobs where I am still the owner,
 * evaluate each, write everything. An orchestrator that lost a job gets no lock and writes nothing.
 *
 * A job that breaks the transaction (an output gone from storage, say) must not stop the others:
 * then each is tried alone, and one that fails alone is set aside for a while.
 */
export async function tick(deps: EngineDeps, told: readonly Told[] = []): Promise<TickReport> {
  const now = deps.clock.now().getTime();
  const tried: string[] = [];
  try {
    return await settleTogether(deps, { except: deps.setAside.list(now) }, tried, told);
  } catch (error) {
    if (isOutage(error) || tried.length === 0) throw error;
    return await settleAlone(deps, tried, now);
  }
}

async function settleAlone(
  deps: EngineDeps,
  jobIds: readonly string[],
  now: number,
): Promise<TickReport> {
  let [results, jobs] = [0, 0];
  for (const only of jobIds) {
    try {
      const report = await settleTogether(deps, { only, except: [] }, [], []);
      results += report.results;
      jobs += report.jobs;
    } catch (error) {
      if (isOutage(error)) throw error;
      deps.setAside.add(only, now, error);
    }
  }
  return { results, jobs, more: true, next_due_ms: null };
}

async function settleTogether(
  deps: EngineDeps,
  which: Which,
  tried: string[],
  told: readonly Told[],
): Promise<TickReport> {
  const touched: JobState[] = [];
  const handing = new Handing(deps.links);
  let settled: readonly Settled[] = [];
  try {
    const report = await deps.db.transaction(async (tx) => {
      // A repeat after a deadlock starts from the database and not from half-changed states.
      forget(deps, touched);
      handing.undo();
      const recorded = record(tx, told);
      const found = await runTick(deps, tx, which, touched, tried, handing);
      settled = await recorded;
      return found;
    });
    if (report.jobs > 0) reach("tick.after_commit");
    deps.links.answer(told, settled);
    await handing.leave();
    for (const state of touched) {
      if (isFinished(state.status)) deps.ends.tell(state.row.job_id, state.status);
      else deps.cache.keep(state);
    }
    return report;
  } catch (error) {
    forget(deps, touched);
    handing.undo();
    // What one of them broke must not keep the others waiting: their workers tell the database.
    deps.links.answer(
      told,
      told.map(() => "again"),
    );
    throw error;
  }
}

/** Leaves with the question for work, which then finds what was told as if it had been waiting. */
function record(tx: Transaction, told: readonly Told[]): Promise<readonly Settled[]> {
  const recorded = recordTold(
    tx,
    told.map(({ result }) => result),
  );
  // Its failure is that of whoever asks next.
  recorded.catch(() => undefined);
  return recorded;
}

function forget(deps: EngineDeps, touched: JobState[]): void {
  for (const state of touched) deps.cache.forget(state.row.job_id);
  touched.length = 0;
}

async function runTick(
  deps: EngineDeps,
  tx: Transaction,
  which: Which,
  touched: JobState[],
  tried: string[],
  handing: Handing,
): Promise<TickReport> {
  const work = await findWork(tx, deps.ownerId, batchSize, which);
  tried.splice(0, Infinity, ...work.jobs.map((job) => job.job_id));
  const idle = { results: 0, jobs: 0, more: false, next_due_ms: work.next_due_ms };
  if (work.jobs.length === 0) return idle;

  reach("tick.jobs_locked");
  const states = await loadStates(deps, tx, work.jobs);
  const children = await loadChildren(tx, work, states);
  const resultsOf = groupByJob(work.results);
  const dueOf = groupByJob(work.due);
  const batch = new WriteBatch();
  for (const [jobId, state] of states) {
    touched.push(state);
    for (const child of children.get(jobId) ?? []) state.nodes.set(child.node_id, child);
    const results = resultsOf.get(jobId) ?? [];
    const { reports, notes } = await readResults(deps, results);
    const due = (dueOf.get(jobId) ?? []).map((one) => one.node_id);
    const changed = state.row.attention ? undefined : due;
    await settleJob(
      deps,
      tx,
      state,
      { now: work.now, reports, changed, notes, isNew: false },
      batch,
    );
    for (const child of children.get(jobId) ?? []) state.nodes.delete(child.node_id);
    for (const { seq } of results) batch.processed.push(seq);
  }
  reach("tick.before_write");
  await batch.write(tx, deps.broker, { handing });
  reach("tick.before_commit");
  return { ...idle, results: batch.processed.length, jobs: states.size, more: work.more };
}

async function loadStates(
  deps: EngineDeps,
  tx: Transaction,
  heads: readonly JobHead[],
): Promise<Map<string, JobState>> {
  const states = new Map<string, JobState>();
  const missing: JobHead[] = [];
  for (const head of heads) {
    const known = deps.cache.get(head);
    if (known === undefined) missing.push(head);
    else states.set(head.job_id, { ...known, row: { ...known.row, ...head } });
  }
  if (missing.length === 0) return states;
  const ids = missing.map((head) => head.job_id);
  const [inputs, facts] = await Promise.all([readInputs(tx, ids), loadStaticNodes(tx, ids)]);
  for (const head of missing) {
    const row = { ...head, input_params: inputs.get(head.job_id) ?? {} };
    states.set(head.job_id, {
      row,
      graph: await graphOfJob(deps, row.workflow_hash),
      nodes: new Map(),
      status: row.status,
      unsettled: row.nodes_unsettled,
      eventSeq: row.event_seq,
    });
  }
  for (const { job_id, ...fact } of facts) {
    const output = fact.output && (await deps.outputs.resolve(fact.output));
    states.get(job_id)?.nodes.set(fact.node_id, { ...fact, output });
  }
  return states;
}

async function loadChildren(tx: Transaction, work: Work, states: ReadonlyMap<string, JobState>) {
  const named = work.due.filter(({ job_id, node_id }) => {
    const state = states.get(job_id);
    return state !== undefined && !state.nodes.has(node_id);
  });
  const swept = [...states.values()].filter((state) => state.row.attention);
  const sweptIds = swept.map((state) => state.row.job_id);
  const found = [
    ...work.results.flatMap(({ child }) => (child === null ? [] : [toFact(child)])),
    ...(named.length === 0 ? [] : await loadNodes(tx, named)),
    ...(sweptIds.length === 0 ? [] : await loadDueChildren(tx, sweptIds)),
  ];
  return groupByJob(found);
}

function groupByJob<Item extends { readonly job_id: string }>(items: readonly Item[]) {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.job_id);
    if (group === undefined) groups.set(item.job_id, [item]);
    else group.push(item);
  }
  return groups;
}

async function readResults(
  deps: EngineDeps,
  results: readonly TaskResultRow[],
): Promise<{ reports: Report[]; notes: Map<string, ResultNote> }> {
  const reports: Report[] = [];
  const notes = new Map<string, ResultNote>();
  for (const { task_id, node_id, status, output, error, worker_id, started_at } of results) {
    let stored: JsonObject | undefined;
    if (output === null && status === "completed") {
      reports.push({ task_id, node_id, outcome: { status, output: inResult } });
    } else if (output !== null) {
      const resolved = await deps.outputs.resolve(output);
      if (resolved !== output) stored = output;
      reports.push({ task_id, node_id, outcome: { status: "completed", output: resolved } });
    } else if (error !== null) {
      reports.push({ task_id, node_id, outcome: { status: "failed", error } });
    }
    notes.set(node_id, { worker_id, started_at, stored });
  }
  return { reports, notes };
}
