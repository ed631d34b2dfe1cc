/**
 * The short tick: what linked workers told of jobs whose state is at hand is decided without asking
 * the database first, and written in one message that insists on what was assumed. Whoever changed
 * such a job meanwhile numbered an event, so the assumption fails, nothing is written, and the
 * ordinary tick looks.
 */
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { recordExpected } from "../../adapters/postgres/repositories/reports.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { NodeFact, Report } from "../../core/dag/evaluate/facts.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { parentOfChild, taskId } from "../../core/model/node.ts";
import { Handing } from "../links/handing.ts";
import type { Told } from "../links/links.ts";
import type { EngineDeps } from "./deps.ts";
import type { JobState } from "./job-state.ts";
import type { ResultNote } from "./settle-job.ts";
import { inResult, settleJob } from "./settle-job.ts";
import { WriteBatch } from "./write-batch.ts";

/** What was told of one job. */
interface Part {
  readonly state: JobState;
  readonly reports: Report[];
  readonly notes: Map<string, ResultNote>;
  readonly children: NodeFact[];
}

/** Answers how many jobs were settled; undefined: nothing happened, and the ordinary tick must. */
export async function settleTold(
  deps: EngineDeps,
  told: readonly Told[],
): Promise<number | undefined> {
  // What cannot be read, such as an output gone from storage, is the ordinary tick's to set aside.
  const parts = await sortOut(deps, told).catch(() => undefined);
  if (parts === undefined) return undefined;
  // Changed from here on: only what is committed goes back.
  for (const jobId of parts.keys()) deps.cache.forget(jobId);
  const handing = new Handing(deps.links);
  try {
    await deps.db.transaction((tx) => write(deps, tx, told, [...parts.values()], handing), {
      maxAttempts: 1,
    });
  } catch {
    // Whatever it was, the ordinary tick meets it again, and tells it.
    handing.undo();
    return undefined;
  }
  reach("tick.after_commit");
  deps.links.answer(
    told,
    told.map(() => "ok"),
  );
  await handing.leave();
  for (const { state } of parts.values()) {
    if (isFinished(state.status)) deps.ends.tell(state.row.job_id, state.status);
    else deps.cache.keep(state);
  }
  return parts.size;
}

/** Undefined: one of them is not what can be decided from here. */
async function sortOut(
  deps: EngineDeps,
  told: readonly Told[],
): Promise<Map<string, Part> | undefined> {
  const parts = new Map<string, Part>();
  for (const { result } of told) {
    const { job_id, node_id, task_id, output, lease, worker_id } = result;
    const state = deps.cache.peek(job_id);
    if (state === undefined || output === null || !isPlainJob(state)) return undefined;
    const part: Part = parts.get(job_id) ?? {
      ...{ state, reports: [], notes: new Map(), children: [] },
    };
    parts.set(job_id, part);
    if (part.notes.has(node_id)) return undefined;
    const node = state.nodes.get(node_id);
    const note = { worker_id, started_at: lease.leased_at ?? null, stored: undefined };
    if (node !== undefined) {
      const isCurrent =
        node.status === "dispatched" && task_id === taskId(job_id, node_id, node.attempt);
      if (!isCurrent) return undefined;
      const given = JSON.parse(output) as JsonObject;
      const resolved = await deps.outputs.resolve(given);
      part.notes.set(node_id, resolved === given ? note : { ...note, stored: given });
      part.reports.push({ task_id, node_id, outcome: { status: "completed", output: resolved } });
      continue;
    }
    const child = firstAttempt(state, node_id);
    if (child === undefined || task_id !== taskId(job_id, node_id, 0)) return undefined;
    part.children.push(child);
    part.notes.set(node_id, note);
    part.reports.push({ task_id, node_id, outcome: { status: "completed", output: inResult } });
  }
  return parts;
}

/** The end of one that somebody waits for is more than a row. */
function isPlainJob({ status, row }: JobState): boolean {
  return status === "running" && (row.correlation_id ?? row.callback_url) === null;
}

/** A child is not kept; what it is before its first result is known. */
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

async function write(
  deps: EngineDeps,
  tx: Transaction,
  told: readonly Told[],
  parts: readonly Part[],
  handing: Handing,
): Promise<void> {
  recordExpected(
    tx,
    told.map(({ result }) => result),
  );
  const eventSeqs = new Map(parts.map(({ state }) => [state.row.job_id, state.eventSeq]));
  const now = deps.clock.now().getTime();
  const batch = new WriteBatch();
  for (const { state, reports, notes, children } of parts) {
    for (const child of children) state.nodes.set(child.node_id, child);
    await settleJob(deps, tx, state, { now, reports, changed: [], notes, isNew: false }, batch);
    for (const child of children) state.nodes.delete(child.node_id);
  }
  reach("tick.before_write");
  await batch.write(tx, deps.broker, {
    handing,
    assumption: { ownerId: deps.ownerId, eventSeqs },
  });
  reach("tick.before_commit");
}
