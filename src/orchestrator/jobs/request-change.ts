import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { insertEvents } from "../../adapters/postgres/repositories/events.ts";
import type { JobRow, RequestChange } from "../../adapters/postgres/repositories/jobs.ts";
import { lockJob, recordRequest } from "../../adapters/postgres/repositories/jobs.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { Problem } from "../../core/errors.ts";
import type { EventType } from "../../core/model/event.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { JobAnswer } from "./verbs.ts";

/**
 * Writes a request (cancel, pause, resume, retry of a node) into the job's row and its history. Another orchestrator
 * may own the job, so the request itself changes no state: the owner is woken and decides.
 */
export async function requestChange(
  tx: Transaction,
  row: JobRow,
  type: EventType,
  change: Omit<RequestChange, "event_seq">,
  data: JsonObject | null,
  nodeId: string | null = null,
): Promise<void> {
  const seq = row.event_seq + 1;
  await recordRequest(tx, row.job_id, { ...change, event_seq: seq });
  insertEvents(tx, [
    {
      job_id: row.job_id,
      seq,
      event_type: type,
      event_status: "info",
      node_id: nodeId,
      task_id: null,
      event_data: data,
    },
  ]);
  reach("request.before_commit");
}

export async function lockExistingJob(tx: Transaction, jobId: string): Promise<JobRow> {
  const row = await lockJob(tx, jobId);
  if (row === undefined) throw new Problem("JOB_NOT_FOUND", `there is no job "${jobId}"`);
  return row;
}

export function refuseFinished(row: JobRow): void {
  if (isFinished(row.status)) {
    throw new Problem("JOB_FINISHED", `job "${row.job_id}" is already ${row.status}`);
  }
}

export function answerOf(row: JobRow, change: Partial<JobAnswer> = {}): JobAnswer {
  const { job_id, status, paused, cancel_reason } = row;
  return { job_id, status, paused, cancel_requested: cancel_reason !== null, ...change };
}
