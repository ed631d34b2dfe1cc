import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { insertEvents } from "../../adapters/postgres/repositories/events.ts";
import type { JobRow, RequestChange } from "../../adapters/postgres/repositories/jobs.ts";
import { lockJob, recordRequest } from "../../adapters/postgres/repositories/jobs.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { Problem } from "../../core/errors.ts";
import type { EventType } from "../../core/model/event.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { EngineDeps } from "../engine/deps.ts";
import type { JobAnswer } from "./verbs.ts";

/** Another orchestrator may own the job, so a request is written beside it and its owner woken. */
async function request(
  tx: Transaction,
  row: JobRow,
  type: EventType,
  change: Omit<RequestChange, "event_seq">,
  data: JsonObject | null,
): Promise<void> {
  const seq = row.event_seq + 1;
  await recordRequest(tx, row.job_id, { ...change, event_seq: seq });
  insertEvents(tx, [
    {
      job_id: row.job_id,
      seq,
      event_type: type,
      event_status: "info",
      node_id: null,
      task_id: null,
      event_data: data,
    },
  ]);
  reach("request.before_commit");
}

/** Asking twice is asking once. A job that ended otherwise cannot be cancelled any more. */
export function cancelJob(
  deps: Pick<EngineDeps, "db">,
  jobId: string,
  reason: string,
): Promise<JobAnswer> {
  return deps.db.transaction((tx) => cancelJobIn(tx, jobId, reason));
}

/** The same inside of a transaction that changes more than the job. */
export async function cancelJobIn(
  tx: Transaction,
  jobId: string,
  reason: string,
): Promise<JobAnswer> {
  const row = await lockedJob(tx, jobId);
  if (row.status === "cancelled" || row.cancel_reason !== null) return answer(row, {});
  refuseFinished(row);
  await request(tx, row, "job_cancel_requested", { cancel: { reason } }, { reason });
  return answer(row, { cancel_requested: true });
}

export function pauseJob(
  deps: Pick<EngineDeps, "db">,
  jobId: string,
  pause: boolean,
): Promise<JobAnswer> {
  return deps.db.transaction(async (tx) => {
    const row = await lockedJob(tx, jobId);
    refuseFinished(row);
    if (row.paused === pause) return answer(row, {});
    await request(tx, row, pause ? "job_paused" : "job_resumed", { pause }, null);
    return answer(row, { paused: pause });
  });
}

export async function lockedJob(tx: Transaction, jobId: string): Promise<JobRow> {
  const row = await lockJob(tx, jobId);
  if (row === undefined) throw new Problem("JOB_NOT_FOUND", `there is no job "${jobId}"`);
  return row;
}

function refuseFinished(row: JobRow): void {
  if (isFinished(row.status)) {
    throw new Problem("JOB_FINISHED", `job "${row.job_id}" is already ${row.status}`);
  }
}

function answer(row: JobRow, change: Partial<JobAnswer>): JobAnswer {
  const { job_id, status, paused, cancel_reason } = row;
  return { job_id, status, paused, cancel_requested: cancel_reason !== null, ...change };
}
