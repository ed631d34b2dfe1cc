import type { PushedReport } from "../../adapters/broker/broker.ts";
import type { JobWork } from "./find-work.ts";
import type { JobState } from "./job-state.ts";
import { WriteBatch } from "./write-batch.ts";

/** What is decided about pushed reports, and not committed yet. */
export class Draft {
  readonly states = new Map<string, JobState>();
  readonly jobs: JobWork[] = [];
  readonly reports: PushedReport[] = [];
  readonly batch = new WriteBatch();
  /** It failed, or its states rest on a draft that failed. */
  isLost = false;

  add(jobs: readonly JobWork[], reports: readonly PushedReport[]): void {
    for (const job of jobs) {
      this.jobs.push(job);
      this.states.set(job.state.row.job_id, job.state);
    }
    for (const report of reports) this.reports.push(report);
  }

  sharesJobWith({ states }: Draft): boolean {
    for (const jobId of this.states.keys()) if (states.has(jobId)) return true;
    return false;
  }
}
