import type { JsonObject } from "../../core/model/json.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { JobEnd } from "../engine/end-waiters.ts";

/** What routes may ask of the engine about jobs. A refusal is thrown as a Problem. */
export interface Verbs {
  submit(request: SubmitRequest): Promise<SubmitAnswer>;
  /** Submits a job of stages by its type and parameters. */
  submitStages(
    jobType: string,
    parameters: JsonObject,
    by: Pick<SubmitRequest, "submitted_by" | "trace_parent">,
  ): Promise<StageSubmission>;
  /** Answers how the job ended; undefined if it still runs after `milliseconds`. */
  waitForEnd(jobId: string, milliseconds: number, signal: AbortSignal): Promise<JobEnd | undefined>;
  cancel(jobId: string, reason: string): Promise<JobAnswer>;
  pause(jobId: string): Promise<JobAnswer>;
  resume(jobId: string): Promise<JobAnswer>;
  /** Creates a job that inherits what succeeded and runs the failed nodes and their descendants. */
  retry(jobId: string, request?: RetryRequest): Promise<SubmitAnswer>;
  /** Starts the next attempt of a waiting node, or a new job from a node of a finished job. */
  retryNode(
    jobId: string,
    nodeId: string,
    request?: Pick<RetryRequest, "trace_parent">,
  ): Promise<SubmitAnswer>;
  /** Creates a job that runs a node and its descendants again. */
  rerun(jobId: string, request: RerunRequest): Promise<SubmitAnswer>;
}

export interface SubmitRequest {
  /** A new one unless given, with a key that is as unique. */
  readonly job_id?: string | undefined;
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly priority?: number | undefined;
  readonly correlation_id?: string | undefined;
  readonly idempotency_key?: string | undefined;
  readonly submitted_by?: string | undefined;
  readonly callback_url?: string | undefined;
  /** The context of the request that submits the job. */
  readonly trace_parent?: string | undefined;
}

export interface StageSubmission extends SubmitAnswer {
  readonly job_type: string;
  /** With their defaults; the job's id is made of them. */
  readonly parameters: JsonObject;
  readonly total_stages: number;
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

export interface RetryRequest {
  /** Use the newest version of the workflow instead of the version of the first job. */
  readonly latest?: boolean | undefined;
  readonly trace_parent?: string | undefined;
}

export interface RerunRequest extends RetryRequest {
  readonly from_node: string;
  /** These inputs replace those of the same name; the others stay. */
  readonly inputs?: JsonObject | undefined;
}
