import { isLockTimeout, isOutage } from "../../adapters/postgres/outage.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { noteSettleError } from "../../adapters/postgres/repositories/jobs.ts";
import type { JobFilter } from "../../adapters/postgres/repositories/work.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { isFinished } from "../../core/model/job.ts";
import { cleanText } from "../../core/model/output.ts";
import type { EngineDeps } from "./deps.ts";
import type { JobWork } from "./find-work.ts";
import { takeWaiting } from "./find-work.ts";
import type { JobState } from "./job-state.ts";
import { settleJob } from "./settle-job.ts";
import { WriteBatch } from "./write-batch.ts";

export interface TickReport {
  readonly results: number;
  readonly jobs: number;
  /** False if nothing was committed, such as by a lock on the table: no sign that the engine works. */
  readonly committed: boolean;
  /** More work may wait: tick again at once. */
  readonly more: boolean;
  /** When the next retry falls due; null: none is planned, undefined: the tick did not read it. */
  readonly next_due_ms: number | null | undefined;
}

/**
 * Settles the work that waits in the database, many jobs in one transaction: takes the work and the jobs'
 * states, evaluates each job, writes everything, and commits only if this orchestrator still owns the jobs
 * and no other writer has numbered an event since. tick-pushed.ts does the same for pushed reports.
 *
 * A job that makes the transaction fail (its output is missing in storage, say) must not stop the others:
 * each job is then settled alone, and a job that fails alone is quarantined for a while.
 */
export async function tick(deps: EngineDeps): Promise<TickReport> {
  const now = deps.clock.now().getTime();
  const locked: string[] = [];
  const skipLocked = deps.quarantine.isSkipping(now);
  try {
    return await settleFiltered(deps, { except: deps.quarantine.list(now), skipLocked }, locked);
  } catch (error) {
    if (isLockTimeout(error) && !skipLocked) {
      deps.quarantine.skipLocked(now);
      return { results: 0, jobs: 0, committed: false, more: true, next_due_ms: undefined };
    }
    const mayBeOneJob = isLockTimeout(error) || !isOutage(error);
    if (!mayBeOneJob || locked.length === 0) throw error;
  }
  let [results, jobs] = [0, 0];
  for (const only of locked) {
    try {
      const report = await settleFiltered(deps, { only, except: [], skipLocked }, []);
      results += report.results;
      jobs += report.jobs;
    } catch (error) {
      if (isLockTimeout(error)) deps.quarantine.postpone([only], now);
      else if (isOutage(error)) throw error;
      else await quarantineJob(deps, only, now, error);
    }
  }
  return { results, jobs, committed: true, more: true, next_due_ms: undefined };
}

/** The error is written to the job: people look there when it hangs. */
async function quarantineJob(
  deps: EngineDeps,
  jobId: string,
  now: number,
  error: unknown,
): Promise<void> {
  deps.quarantine.add(jobId, now, error);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The job cannot go on, and is tried again every minute: ${cleanText(reason)}`;
  // The log has the error; without this row the job only does not show it.
  await noteSettleError(deps.db, deps.ownerId, jobId, message).catch(() => undefined);
}

function settleFiltered(
  deps: EngineDeps,
  filter: JobFilter,
  locked: string[],
): Promise<TickReport> {
  return deps.db.transaction(async (tx) => {
    const { jobs, work } = await takeWaiting(deps, tx, filter, locked);
    const lookAgainMs = deps.quarantine.postpone(work.busy, deps.clock.now().getTime());
    if (jobs.length > 0) {
      reach("tick.jobs_locked");
      await settleAll(deps, tx, jobs);
    }
    return {
      results: work.results.length,
      jobs: jobs.length,
      committed: true,
      more: work.more,
      next_due_ms: earlier(lookAgainMs, work.next_due_ms),
    };
  });
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

async function settleAll(
  deps: EngineDeps,
  tx: Transaction,
  jobs: readonly JobWork[],
): Promise<void> {
  tx.afterCommit(() => {
    reach("tick.after_commit");
  });
  const batch = new WriteBatch();
  await decideJobs(deps, jobs, async () => tx, batch);
  for (const { trigger } of jobs) batch.addAll("processed", trigger.inboxSeqs);
  await writeTick(deps, tx, jobs, batch);
  tx.afterCommit(() => {
    for (const { state } of jobs) releaseState(deps, state);
  });
}

/** Adds what is decided about these jobs to the batch. `open` opens the transaction that writes it. */
export async function decideJobs(
  deps: EngineDeps,
  jobs: readonly JobWork[],
  open: () => Promise<Transaction>,
  batch: WriteBatch,
): Promise<void> {
  for (const { state, trigger, children } of jobs) {
    for (const child of children) state.nodes.set(child.node_id, child);
    await settleJob(deps, open, state, trigger, batch);
    for (const child of children) state.nodes.delete(child.node_id);
  }
}

export async function writeTick(
  deps: EngineDeps,
  tx: Transaction,
  jobs: readonly JobWork[],
  batch: WriteBatch,
): Promise<void> {
  deps.traces?.settling(tx, "tick", jobs);
  reach("tick.before_write");
  await batch.write(tx, deps);
  reach("tick.before_commit");
}

/** Puts a committed state back into the cache, or answers the requests that wait for the end of its job. */
export function releaseState(deps: EngineDeps, state: JobState): void {
  const { row, status, end } = state;
  if (!isFinished(status)) deps.cache.keep(state);
  else {
    deps.cache.forget(row.job_id);
    deps.endWaiters.resolve(row.job_id, { status, ...end });
  }
}
