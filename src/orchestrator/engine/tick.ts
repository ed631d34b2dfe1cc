import type { PushedReport } from "../../adapters/broker/broker.ts";
import { isOutage } from "../../adapters/postgres/outage.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { JobFilter } from "../../adapters/postgres/repositories/work.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { isFinished } from "../../core/model/job.ts";
import type { EngineDeps } from "./deps.ts";
import type { JobWork } from "./find-work.ts";
import { takePushed, takeWaiting } from "./find-work.ts";
import { settleJob } from "./settle-job.ts";
import { WriteBatch } from "./write-batch.ts";

export interface TickReport {
  readonly results: number;
  readonly jobs: number;
  /** More work may wait: tick again at once. */
  readonly more: boolean;
  /** When the next retry falls due; null: none is planned, undefined: the tick did not read it. */
  readonly next_due_ms: number | null | undefined;
}

/**
 * Settles many jobs in one transaction: takes the work and the jobs' states, evaluates each job,
 * writes everything, and commits only if this orchestrator still owns the jobs and no other writer has
 * numbered an event since.
 *
 * Without pushed reports the work and the row locks come from the database. With pushed reports the
 * states come from the cache, and nothing is read first. When that transaction fails, for any reason,
 * the states stay out of the cache and the reports are refused: their workers write them to the
 * database, and the next tick reads both there.
 */
export async function tick(
  deps: EngineDeps,
  pushed: readonly PushedReport[] = [],
): Promise<TickReport> {
  return pushed.length > 0 ? settlePushed(deps, pushed) : settleWaiting(deps);
}

async function settlePushed(
  deps: EngineDeps,
  pushed: readonly PushedReport[],
): Promise<TickReport> {
  const receiver = deps.broker.pushedReports;
  const now = deps.databaseClock.now();
  const { jobs, known, unknown } =
    now === undefined
      ? { jobs: [], known: [], unknown: pushed }
      : await takePushed(deps, pushed, now);
  receiver?.refuse(unknown);
  try {
    if (jobs.length > 0) {
      await deps.db.transaction(
        async (tx) => {
          receiver?.record(tx, known);
          await settleAll(deps, tx, jobs, known.length);
        },
        // Once only: a second attempt would find the states changed by the first.
        { maxAttempts: 1 },
      );
    }
    return { results: known.length, jobs: jobs.length, more: false, next_due_ms: undefined };
  } catch {
    receiver?.refuse(known);
    return { results: 0, jobs: 0, more: false, next_due_ms: undefined };
  }
}

/**
 * Settles the work in the database. A job that makes the transaction fail (its output is missing in
 * storage, say) must not stop the others: each job is then settled alone, and a job that fails alone is
 * quarantined for a while.
 */
async function settleWaiting(deps: EngineDeps): Promise<TickReport> {
  const now = deps.clock.now().getTime();
  const locked: string[] = [];
  try {
    return await settleFiltered(deps, { except: deps.quarantine.list(now) }, locked);
  } catch (error) {
    if (isOutage(error) || locked.length === 0) throw error;
  }
  let [results, jobs] = [0, 0];
  for (const only of locked) {
    try {
      const report = await settleFiltered(deps, { only, except: [] }, []);
      results += report.results;
      jobs += report.jobs;
    } catch (error) {
      if (isOutage(error)) throw error;
      deps.quarantine.add(only, now, error);
    }
  }
  return { results, jobs, more: true, next_due_ms: undefined };
}

function settleFiltered(
  deps: EngineDeps,
  filter: JobFilter,
  locked: string[],
): Promise<TickReport> {
  return deps.db.transaction(async (tx) => {
    const { jobs, work } = await takeWaiting(deps, tx, filter, locked);
    if (jobs.length > 0) {
      reach("tick.jobs_locked");
      await settleAll(deps, tx, jobs, 0);
    }
    return {
      results: work.results.length,
      jobs: jobs.length,
      more: work.more,
      next_due_ms: work.next_due_ms,
    };
  });
}

/** `pushed` counts pushed reports. They have no row in the inbox, so each of their jobs must be written. */
async function settleAll(
  deps: EngineDeps,
  tx: Transaction,
  jobs: readonly JobWork[],
  pushed: number,
): Promise<void> {
  tx.afterCommit(() => {
    reach("tick.after_commit");
  });
  const batch = new WriteBatch();
  for (const { state, trigger, children } of jobs) {
    for (const child of children) state.nodes.set(child.node_id, child);
    await settleJob(deps, tx, state, trigger, batch);
    for (const child of children) state.nodes.delete(child.node_id);
    batch.addAll("processed", trigger.inboxSeqs);
  }
  if (pushed > 0 && batch.jobUpdates.length !== jobs.length) {
    throw new Error("a pushed report changed nothing in its job");
  }
  reach("tick.before_write");
  await batch.write(tx, deps);
  reach("tick.before_commit");
  tx.afterCommit(() => {
    for (const { state } of jobs) {
      if (isFinished(state.status)) deps.endWaiters.resolve(state.row.job_id, state.status);
      else deps.cache.keep(state);
    }
  });
}
