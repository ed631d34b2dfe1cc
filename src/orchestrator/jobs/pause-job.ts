import type { Database } from "../../adapters/postgres/database.ts";
import { answerOf, lockExistingJob, refuseFinished, requestChange } from "./request-change.ts";
import type { JobAnswer } from "./verbs.ts";

/** While a job is paused its owner starts no new tasks; those that run finish. */
export function pauseJob(deps: { readonly db: Database }, jobId: string): Promise<JobAnswer> {
  return setPaused(deps.db, jobId, true);
}

export function resumeJob(deps: { readonly db: Database }, jobId: string): Promise<JobAnswer> {
  return setPaused(deps.db, jobId, false);
}

function setPaused(db: Database, jobId: string, pause: boolean): Promise<JobAnswer> {
  return db.transaction(async (tx) => {
    const row = await lockExistingJob(tx, jobId);
    refuseFinished(row);
    if (row.paused === pause) return answerOf(row);
    await requestChange(tx, row, pause ? "job_paused" : "job_resumed", { pause }, null);
    return answerOf(row, { paused: pause });
  });
}
