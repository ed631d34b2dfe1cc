/**
 * Starts the ticks of pushed reports: while PostgreSQL writes one batch, the next one is decided.
 *
 * Ticks that run at the same time have no job in common. The state of a job leaves the cache with its
 * tick and comes back with the commit, so further reports of that job stay where they arrived until then.
 */
import type { PushedReport, PushedReports } from "../../adapters/broker/broker.ts";
import { batchSize } from "./find-work.ts";

export interface Arrivals {
  /** Starts as many ticks as reports have arrived for. */
  startTicks(): void;
  /** Resolves when no tick is under way. */
  idle(): Promise<void>;
}

const mostAtOnce = 2;
/** A second tick starts for so many reports: a smaller batch costs more than its wait for the first. */
const leastOfSecond = 100;

/** `settle` must not reject. `onSettled` is called after each tick: reports may have waited for it. */
export function createArrivals(
  pushed: Pick<PushedReports, "take">,
  settle: (reports: readonly PushedReport[]) => Promise<void>,
  onSettled: () => void,
): Arrivals {
  const ticks = new Set<Promise<void>>();
  const busyJobs = new Set<string>();

  async function run(reports: readonly PushedReport[], jobs: ReadonlySet<string>): Promise<void> {
    await settle(reports);
    for (const job of jobs) busyJobs.delete(job);
  }

  return {
    startTicks() {
      while (ticks.size < mostAtOnce) {
        const least = ticks.size === 0 ? 1 : leastOfSecond;
        const reports = pushed.take(batchSize, { least, exceptJobs: busyJobs });
        if (reports.length === 0) return;
        const jobs = new Set(reports.map(({ job_id }) => job_id));
        for (const job of jobs) busyJobs.add(job);
        const ticking = run(reports, jobs).finally(() => {
          ticks.delete(ticking);
          onSettled();
        });
        ticks.add(ticking);
      }
    },
    async idle() {
      await Promise.all(ticks);
    },
  };
}
