import { z } from "zod";
import { waitReason } from "../dag/evaluate/wait-reason.ts";
import { eventStatus, eventType } from "../model/event.ts";
import { jobStatus } from "../model/job.ts";
import { moment } from "../model/moment.ts";
import { nodeStatus, nodeType } from "../model/node.ts";
import { taskError } from "../model/task.ts";
import { count, object, timestamp } from "./schemas.ts";

/** Selects the jobs of a list. */
export const jobFilter = z.strictObject({
  status: jobStatus.optional(),
  workflow_id: z.string().max(64).optional(),
  correlation_id: z.string().max(64).optional(),
  submitted_by: z.string().max(64).optional(),
  created_after: moment.optional(),
  created_before: moment.optional(),
  rerun_of: z.string().max(64).optional().describe("the job that they run again"),
  search: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("part of the job's, workflow's or correlation's id, or of the error"),
});

/** A job in a list. */
export const jobSummary = z
  .object({
    job_id: z.string(),
    workflow_id: z.string(),
    workflow_version: z.string(),
    workflow_hash: z.string(),
    status: jobStatus,
    paused: z.boolean(),
    cancel_requested: z.boolean(),
    cancel_reason: z.string().nullable(),
    priority: z.number().int(),
    correlation_id: z.string().nullable(),
    submitted_by: z.string().nullable(),
    rerun_of: z.string().nullable(),
    owner_id: z.string().nullable(),
    nodes_total: count,
    nodes_settled: count,
    error: z
      .object({
        code: z.string().nullable(),
        message: z.string(),
        node_id: z.string().nullable(),
      })
      .nullable(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    updated_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "JobSummary" });
export type JobSummary = z.infer<typeof jobSummary>;

export const jobCounts = z
  .object({
    total: count,
    pending: count,
    running: count,
    completed: count,
    failed: count,
    cancelled: count,
  })
  .meta({ id: "JobCounts" });

export const progress = z.object({ percent: z.number(), message: z.string().nullable() });

/** The number of a fan-out's children in each state. */
export const histogram = z
  .object({
    total: count,
    pending: count,
    ready: count,
    dispatched: count,
    running: count,
    completed: count,
    failed: count,
    skipped: count,
    cancelled: count,
  })
  .meta({ id: "Histogram" });
export type Histogram = z.infer<typeof histogram>;

/** A node in a list. A fan-out stands for all its children, which `children` counts. */
export const nodeSummary = z
  .object({
    node_id: z.string(),
    node_type: nodeType,
    status: nodeStatus,
    parent_node_id: z.string().nullable(),
    fan_out_index: z.number().int().nullable(),
    attempt: count,
    retry_count: count,
    max_retries: count,
    task_id: z.string().nullable(),
    handler: z.string().nullable(),
    queue: z.string().nullable(),
    worker_id: z.string().nullable(),
    error: taskError.extend({ details: object.optional() }).nullable(),
    progress: progress.nullable(),
    wait_reason: waitReason.nullable(),
    branch: count.nullable().describe("of a conditional: the number of the branch that it took"),
    children: histogram.nullable(),
    retry_at: timestamp.nullable(),
    created_at: timestamp,
    dispatched_at: timestamp.nullable(),
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "NodeSummary" });
export type NodeSummary = z.infer<typeof nodeSummary>;

export const job = z
  .object({
    ...jobSummary.shape,
    input_params: object,
    result_data: object.nullable(),
    callback_url: z.string().nullable(),
    idempotency_key: z.string().nullable(),
    metadata: object,
    event_seq: count,
    trace_id: z.string().nullable().describe("of OpenTelemetry; null: the job is not traced"),
    trace_url: z.string().nullable().describe("the trace in the tool that shows traces"),
    nodes: z.array(nodeSummary),
    archived_at: timestamp
      .optional()
      .describe("retention has moved the job to an archive, from which it is read"),
  })
  .meta({ id: "Job" });
export type Job = z.infer<typeof job>;

export const jobEvent = z
  .object({
    seq: z.number().int(),
    event_type: eventType,
    event_status: eventStatus,
    node_id: z.string().nullable(),
    task_id: z.string().nullable(),
    checkpoint_name: z.string().nullable(),
    event_data: object.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "JobEvent" });
export type JobEvent = z.infer<typeof jobEvent>;

/** A task that a worker holds now. */
export const currentTask = z
  .object({
    node_id: z.string(),
    task_id: z.string(),
    worker_id: z.string(),
    started_at: timestamp,
    progress_percent: z.number().nullable(),
    progress_message: z.string().nullable(),
  })
  .meta({ id: "CurrentTask" });
export type CurrentTask = z.infer<typeof currentTask>;

export const submitted = z
  .object({
    job_id: z.string(),
    workflow_id: z.string(),
    workflow_version: z.string(),
    status: jobStatus,
    created: z.boolean(),
    result: object
      .optional()
      .describe("with `wait`: the whole result of a job that completed, however large"),
    error: jobSummary.shape.error
      .optional()
      .describe("with `wait`: the error of a job that failed or was cancelled"),
  })
  .meta({ id: "Submitted" });
