import type { JsonObject } from "../../core/model/json.ts";
import type { JobStatus } from "../../core/model/job.ts";

/** What the outside may ask of the orchestrator. Each is one file in `jobs/`; refusals are Problems. */
export interface Verbs {
  submit(request: SubmitRequest): Promise<SubmitAnswer>;
  /** Answers how a job ended; undefined when it has not after so long. */
  waitForEnd(
    jobId: string,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<JobStatus | undefined>;
  cancel(jobId: string, reason: string): Promise<JobAnswer>;
  pause(jobId: string): Promise<JobAnswer>;
  resume(jobId: string): Promise<JobAnswer>;
  /** A new job that keeps what succeeded and runs again what failed and what follows it. */
  retry(jobId: string): Promise<SubmitAnswer>;
  /** A new job that runs again from a node, with everything behind it. */
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
  /** False: the idempotency key named an earlier submission, and this is its job. */
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
  /** Replace these inputs; the others stay. */
  readonly inputs?: JsonObject | undefined;
}
