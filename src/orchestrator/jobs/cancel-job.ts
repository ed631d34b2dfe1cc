import type { Database } from "../../adapters/postgres/database.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { answerOf, lockExistingJob, refuseFinished, requestChange } from "./request-change.ts";
import type { JobAnswer } from "./verbs.ts";

/**
 * Records that a job is to be cancelled; its owner cancels the nodes with its next tick. A second
 * request changes nothing. A job that has completed or failed refuses.
 */
export function cancelJob(
  { db }: { readonly db: Database },
  jobId: string,
  reason: string,
): Promise<JobAnswer> {
  return db.transaction((tx) => cancelJobIn(tx, jobId, reason));
}

/** `cancelJob` within a transaction that changes more than the job. */
export async function cancelJobIn(
  tx: Transaction,
  jobId: string,
  reason: string,
): Promise<JobAnswer> {
  const row = await lockExistingJob(tx, jobId);
  if (row.status === "cancelled" || row.cancel_reason !== null) return answerOf(row);
  refuseFinished(row);
  await requestChange(tx, row, "job_cancel_requested", { cancel: { reason } }, { reason });
  return answerOf(row, { cancel_requested: true });
}
