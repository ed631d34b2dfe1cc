/**
 * Settles the reports that workers push. While transactions are written, the reports that arrive are
 * decided already, on the states that these will leave: a draft. Two drafts are written at the same time
 * when they have no job in common; otherwise one is written after the commit of the other.
 *
 * When a transaction fails, for any reason, so does a draft that was decided on its states: the states stay
 * out of the cache and the reports are refused. Their workers write them to the database, and the next
 * tick reads both there.
 */
import type { PushedReport } from "../../adapters/broker/broker.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { isFinished } from "../../core/model/job.ts";
import type { EngineDeps } from "./deps.ts";
import { Draft } from "./draft.ts";
import { batchSize, takePushed } from "./find-work.ts";
import type { JobState } from "./job-state.ts";
import type { TickReport } from "./tick.ts";
import { decideJobs, releaseState, writeTick } from "./tick.ts";

const mostTransactions = 2;
/** While a transaction is written, fewer reports than this are not decided by themselves. */
const decidedAhead = 100;
/** While a transaction is written, fewer reports than this do not get one of their own. */
const writtenBeside = 200;

export class PushedTicks {
  private readonly deps: EngineDeps;
  private readonly onTick: (ticked: Promise<TickReport>) => void;
  private readonly writing = new Map<Draft, Promise<TickReport>>();
  private next: Draft | undefined;
  /** Jobs whose states are being looked up. */
  private lookedUp: ReadonlySet<string> = new Set();
  private failures = 0;

  /** `onTick` is called with each transaction. */
  constructor(deps: EngineDeps, onTick: (ticked: Promise<TickReport>) => void = () => undefined) {
    this.deps = deps;
    this.onTick = onTick;
  }

  /** Decides the reports that have arrived, and starts to write them unless they have to wait. */
  async advance(): Promise<void> {
    while (this.waiting() >= this.fewest() && this.room() > 0) {
      await this.decide(this.deps.broker.pushedReports?.take(this.room()) ?? []);
    }
    const { next } = this;
    if (next === undefined || !this.mayWrite(next)) return;
    if (this.writing.size === 0 || next.reports.length >= writtenBeside) void this.write(next);
  }

  /** Resolves when everything that was decided is written. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.next !== undefined && this.mayWrite(this.next)) void this.write(this.next);
      if (this.writing.size === 0) return;
      await Promise.race(this.writing.values());
    }
  }

  /** Whether reports or a draft wait for a transaction that is being written. */
  hasMore(): boolean {
    return this.next !== undefined || this.waiting() > 0;
  }

  private waiting(): number {
    return this.deps.broker.pushedReports?.waiting() ?? 0;
  }

  private room(): number {
    return batchSize - (this.next?.reports.length ?? 0);
  }

  private fewest(): number {
    return this.writing.size === 0 ? 1 : decidedAhead;
  }

  private mayWrite(draft: Draft): boolean {
    if (this.writing.size >= mostTransactions) return false;
    return [...this.writing.keys()].every((other) => !other.sharesJobWith(draft));
  }

  private async decide(reports: readonly PushedReport[]): Promise<void> {
    const { deps, failures } = this;
    const receiver = deps.broker.pushedReports;
    const now = deps.databaseClock.now();
    if (now === undefined) {
      receiver?.refuse(reports);
      return;
    }
    this.lookedUp = new Set(reports.map(({ job_id }) => job_id));
    const { jobs, known, unknown } = await takePushed(deps, reports, now, this.held);
    this.lookedUp = new Set();
    receiver?.refuse(unknown);
    if (jobs.length === 0) return;
    const draft = (this.next ??= new Draft());
    draft.add(jobs, known);
    try {
      // Meanwhile the draft of a state may have failed.
      if (this.failures !== failures)
        throw new Error("the states may not be those of the database");
      const { jobUpdates } = draft.batch;
      const updated = jobUpdates.length;
      let opened: Promise<Transaction> | undefined;
      const open = (): Promise<Transaction> => (opened ??= this.open(draft, () => deciding));
      const deciding: Promise<void> = decideJobs(deps, jobs, open, draft.batch).then(() => {
        // Pushed reports have no row in the inbox, so each of their jobs must be written.
        if (jobUpdates.length - updated === jobs.length) return;
        throw new Error("a pushed report changed nothing in its job");
      });
      await deciding;
    } catch {
      this.lose(draft);
    }
  }

  /** Answers the state of a job that is decided on and not committed. */
  private readonly held = (jobId: string): JobState | undefined => {
    const decided = this.next?.states.get(jobId);
    if (decided !== undefined) return decided;
    for (const { isLost, states } of this.writing.keys()) {
      const state = isLost ? undefined : states.get(jobId);
      if (state !== undefined) return state;
    }
    return undefined;
  };

  /** Opens the transaction of a draft while it is being decided, for a fan-in that reads rows of children. */
  private async open(draft: Draft, deciding: () => Promise<void>): Promise<Transaction> {
    while (!draft.isLost && !this.mayWrite(draft)) await Promise.race(this.writing.values());
    if (draft.isLost) throw new Error("the transaction before this one has failed");
    return new Promise((resolve, reject) => {
      const ticked = this.write(draft, async (tx) => {
        resolve(tx);
        await deciding();
      });
      void ticked.then(() => {
        reject(new Error("the transaction was not opened"));
      });
    });
  }

  private write(draft: Draft, onOpen?: (tx: Transaction) => Promise<void>): Promise<TickReport> {
    const { deps } = this;
    this.next = undefined;
    const ticked = deps.db
      .transaction(
        async (tx) => {
          tx.afterCommit(() => {
            reach("tick.after_commit");
          });
          deps.broker.pushedReports?.record(tx, draft.reports);
          await onOpen?.(tx);
          await writeTick(deps, tx, draft.jobs, draft.batch);
          tx.afterCommit(() => {
            this.release(draft);
          });
        },
        // Once only: a second attempt would find the states changed by the first.
        { maxAttempts: 1 },
      )
      .catch(() => {
        this.lose(draft);
      })
      .then(() => {
        this.writing.delete(draft);
        return reportOf(draft);
      });
    this.writing.set(draft, ticked);
    this.onTick(ticked);
    return ticked;
  }

  /** A state that the next draft was decided on stays with it. */
  private release(draft: Draft): void {
    for (const [jobId, state] of draft.states) {
      if (this.next?.states.has(jobId) === true || this.deps.cache.isDoubted(jobId)) continue;
      if (isFinished(state.status) || !this.lookedUp.has(jobId)) releaseState(this.deps, state);
    }
  }

  private lose(draft: Draft): void {
    if (draft.isLost) return;
    draft.isLost = true;
    this.failures += 1;
    if (this.next === draft) this.next = undefined;
    for (const jobId of draft.states.keys()) {
      this.deps.cache.forget(jobId);
      this.deps.cache.doubt(jobId);
    }
    this.deps.broker.pushedReports?.refuse(draft.reports);
    if (this.next?.sharesJobWith(draft) === true) this.lose(this.next);
  }
}

function reportOf({ isLost, reports, states }: Draft): TickReport {
  const [results, jobs] = isLost ? [0, 0] : [reports.length, states.size];
  return { results, jobs, committed: !isLost, more: false, next_due_ms: undefined };
}
