import type { JsonObject } from "../../core/model/json.ts";
import type { JobStatus } from "../../core/model/job.ts";

/** What routes may ask of the engine about jobs. A refusal is thrown as a Problem. */
export interface Verbs {
  submit(request: SubmitRequest): Promise<SubmitAnswer>;
  /** Answers the final status; undefined if the job still runs after `milliseconds`. */
  waitForEnd(
    jobId: string,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<JobStatus | undefined>;
  cancel(jobId: string, reason: string): Promise<JobAnswer>;
  pause(jobId: string): Promise<JobAnswer>;
  resume(jobId: string): Promise<JobAnswer>;
  /** Creates a job that inherits what succeeded and runs the failed nodes and their descendants. */
  retry(jobId: string): Promise<SubmitAnswer>;
  /** Creates a job that runs a node and its descendants again. */
  rerun(jobId: string, request: RerunRequest): Promise<SubmitAnswer>;
}

export interface SubmitRequest {
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly priority?: number | undefined;
  readonly correlation_id?: string | undefined;
  readonly idempotency_key?: string | undefined;
  readonly submitted_by?: string | undefined;
  readonly callback_url?: string | undefined;
}

export interface SubmitAnswer {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_version: string;
  readonly status: JobStatus;
  /** False: the idempotency key was used before, and this is the job of that submission. */
  readonly created: boolean;
}

export interface JobAnswer {
  readonly job_id: string;
  readonly status: JobStatus;
  readonly paused: boolean;
  readonly cancel_requested: boolean;
}

export interface RerunRequest {
  readonly from_node: string;
  /** These inputs replace those of the same name; the others stay. */
  readonly inputs?: JsonObject | undefined;
}
