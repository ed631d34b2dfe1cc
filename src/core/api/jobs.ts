import { z } from "zod";
import { eventStatus, eventType } from "../model/event.ts";
import { jobStatus } from "../model/job.ts";
import { defineContract, inputsBodyLimit } from "./contract.ts";
import { currentTask, job, jobEvent, jobFilter, jobSummary, submitted } from "./job-schemas.ts";
import { count, integer, jobId, nodeId, object, page, paging, timestamp } from "./schemas.ts";
import { streamMessage } from "./stream.ts";

const one = z.object({ job_id: jobId });

export const submission = z.strictObject({
  workflow_id: z.string().min(1).max(64),
  inputs: object.default({}),
  priority: z.number().int().min(0).max(10).optional(),
  correlation_id: z.string().min(1).max(64).optional(),
  idempotency_key: z.string().min(1).max(128).optional(),
  submitted_by: z.string().min(1).max(64).optional(),
  callback_url: z.url().max(512).optional(),
});

const changed = z
  .object({
    job_id: z.string(),
    status: jobStatus,
    paused: z.boolean(),
    cancel_requested: z.boolean(),
  })
  .meta({ id: "JobChanged" });

const submitJob = defineContract({
  id: "submitJob",
  method: "POST",
  path: "/api/v1/jobs",
  access: "operate",
  summary:
    "Start a workflow. The same idempotency key names the same job as long as that is kept. With `wait` the " +
    "answer comes when the job has ended, or after so many seconds, with the status it then has; " +
    "of a job that has ended it holds the result or the error.",
  query: z.strictObject({ wait: integer(0, 60).optional().describe("seconds") }),
  bodyLimit: inputsBodyLimit,
  body: submission,
  response: submitted,
  status: 202,
  also: { 200: "the idempotency key named an earlier submission, and this is its job" },
  errors: [
    "BAD_REQUEST",
    "INVALID_INPUTS",
    "INVALID_WORKFLOW",
    "WORKFLOW_NOT_FOUND",
    "IDEMPOTENCY_CONFLICT",
  ],
});

const listJobs = defineContract({
  id: "listJobs",
  method: "GET",
  path: "/api/v1/jobs",
  access: "read",
  summary: "Jobs, the newest first.",
  query: jobFilter.extend(paging),
  response: page(jobSummary),
  errors: ["BAD_REQUEST"],
});

const getJob = defineContract({
  id: "getJob",
  method: "GET",
  path: "/api/v1/jobs/{job_id}",
  access: "read",
  summary: "One job with its nodes; a fan-out is one node that counts its children.",
  params: one,
  response: job,
  errors: ["JOB_NOT_FOUND"],
});

const getJobResult = defineContract({
  id: "getJobResult",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/result",
  access: "read",
  summary: "The whole result of a job as JSON, however large it is.",
  params: one,
  response: z.string(),
  media: "application/json",
  errors: ["JOB_NOT_FOUND", "RESULT_NOT_READY", "RESULT_FAILED", "NOT_FOUND"],
});

const getJobProgress = defineContract({
  id: "getJobProgress",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/progress",
  access: "read",
  summary: "The progress of a job, and its running tasks.",
  params: one,
  response: z
    .object({
      job_id: z.string(),
      status: jobStatus,
      overall_percent: z.number(),
      nodes: z.object({
        total: count,
        completed: count,
        running: count,
        pending: count,
        failed: count,
        skipped: count,
        cancelled: count,
      }),
      /** At most a hundred: a wide fan-out may have thousands. */
      current_tasks: z.array(currentTask),
      fan_outs: z.array(
        z.object({
          node_id: z.string(),
          total: count,
          completed: count,
          failed: count,
          running: count,
          percent: z.number(),
        }),
      ),
    })
    .meta({ id: "JobProgress" }),
  errors: ["JOB_NOT_FOUND"],
});

const listJobEvents = defineContract({
  id: "listJobEvents",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/events",
  access: "read",
  summary: "Everything that happened to a job, the oldest first.",
  params: one,
  query: z.strictObject({
    after: integer(0, 2_147_483_647).optional().describe("only events after this number"),
    event_type: eventType.optional(),
    event_status: eventStatus.optional(),
    node_id: nodeId.optional(),
    ...paging,
  }),
  response: page(jobEvent),
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

export const logLevel = z.enum(["debug", "info", "warn", "error"]);

const listJobLogs = defineContract({
  id: "listJobLogs",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/logs",
  access: "read",
  summary: "What the handlers of a job logged, the oldest first.",
  params: one,
  query: z.strictObject({
    node_id: nodeId.optional(),
    task_id: z.string().max(160).optional(),
    level: logLevel.optional().describe("this level and those above it"),
    ...paging,
  }),
  response: page(
    z
      .object({
        log_id: z.number().int(),
        node_id: z.string(),
        task_id: z.string(),
        level: logLevel,
        message: z.string(),
        data: object.nullable(),
        logged_at: timestamp,
      })
      .meta({ id: "LogLine" }),
  ),
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

const cancelJob = defineContract({
  id: "cancelJob",
  method: "POST",
  path: "/api/v1/jobs/{job_id}/cancel",
  access: "operate",
  summary: "Stop a job: nothing new starts, and running tasks are asked to stop.",
  params: one,
  body: z.strictObject({ reason: z.string().min(1).max(1024).optional() }).default({}),
  response: changed,
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND", "JOB_FINISHED"],
});

const pauseJob = defineContract({
  id: "pauseJob",
  method: "POST",
  path: "/api/v1/jobs/{job_id}/pause",
  access: "operate",
  summary: "Start nothing new; what runs may finish.",
  params: one,
  response: changed,
  errors: ["JOB_NOT_FOUND", "JOB_FINISHED"],
});

const resumeJob = defineContract({
  id: "resumeJob",
  method: "POST",
  path: "/api/v1/jobs/{job_id}/resume",
  access: "operate",
  summary: "Go on with a paused job.",
  params: one,
  response: changed,
  errors: ["JOB_NOT_FOUND", "JOB_FINISHED"],
});

const latest = z
  .boolean()
  .optional()
  .describe("use the newest version of the workflow; the kept nodes must be the same in it");

const retryJob = defineContract({
  id: "retryJob",
  method: "POST",
  path: "/api/v1/jobs/{job_id}/retry",
  access: "operate",
  summary: "A new job that keeps the succeeded nodes and runs the failed ones again.",
  params: one,
  body: z.strictObject({ latest }).default({}),
  response: submitted,
  status: 202,
  errors: [
    "BAD_REQUEST",
    "INVALID_INPUTS",
    "INVALID_WORKFLOW",
    "WORKFLOW_NOT_FOUND",
    "JOB_NOT_FOUND",
    "JOB_NOT_FINISHED",
    "NOTHING_TO_RETRY",
    "WORKFLOW_CHANGED",
  ],
});

const rerunJob = defineContract({
  id: "rerunJob",
  method: "POST",
  path: "/api/v1/jobs/{job_id}/rerun",
  access: "operate",
  summary: "A new job that runs again from a node, with all nodes that follow it.",
  params: one,
  bodyLimit: inputsBodyLimit,
  body: z.strictObject({ from_node: nodeId, inputs: object.optional(), latest }),
  response: submitted,
  status: 202,
  errors: [
    "BAD_REQUEST",
    "INVALID_INPUTS",
    "INVALID_WORKFLOW",
    "WORKFLOW_NOT_FOUND",
    "JOB_NOT_FOUND",
    "NODE_NOT_FOUND",
    "JOB_NOT_FINISHED",
    "WORKFLOW_CHANGED",
  ],
});

const after = integer(0, 2_147_483_647)
  .optional()
  .describe("resume after this event; without it the first message is a snapshot");

const streamJob = defineContract({
  id: "streamJob",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/stream",
  access: "read",
  summary:
    "A job live, as server-sent events. The id of a message is an event's number: " +
    "Last-Event-ID resumes after it.",
  params: one,
  query: z.strictObject({ after }),
  response: streamMessage,
  also: { 204: "the job is finished and there is nothing behind Last-Event-ID: do not reconnect" },
  stream: "events",
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

const socketJob = defineContract({
  id: "socketJob",
  method: "GET",
  path: "/ws/jobs/{job_id}",
  access: "read",
  summary: "A job live, over a WebSocket: the same messages as JSON.",
  params: one,
  query: z.strictObject({ after }),
  response: streamMessage,
  stream: "socket",
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

export const jobContracts = [
  submitJob,
  listJobs,
  getJob,
  getJobResult,
  getJobProgress,
  listJobEvents,
  listJobLogs,
  cancelJob,
  pauseJob,
  resumeJob,
  retryJob,
  rerunJob,
  streamJob,
  socketJob,
] as const;
