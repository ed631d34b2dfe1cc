import { z } from "zod";
import { taskError } from "../model/task.ts";
import { defineContract } from "./contract.ts";
import { count, jobId, nodeId, object, timestamp } from "./schemas.ts";

/*
 * Workers that cannot reach the database report through these routes. The report of a stale attempt
 * is not an error of the worker: it is answered as not accepted, and the worker drops it.
 */

const task = { task_id: z.string().min(1).max(160), job_id: jobId, node_id: nodeId };
const worker = { worker_id: z.string().min(1).max(128) };

const result = z.discriminatedUnion("status", [
  z.object({
    ...task,
    ...worker,
    started_at: timestamp.optional(),
    status: z.literal("completed"),
    output: object,
  }),
  z.object({
    ...task,
    ...worker,
    started_at: timestamp.optional(),
    status: z.literal("failed"),
    error: taskError.extend({ details: object.optional() }),
  }),
]);

/** One result in the older format, which names the task alone. */
const olderResult = z.object({
  task_id: z.string().min(1).max(160),
  job_id: jobId.nullish(),
  node_id: nodeId.nullish(),
  worker_id: z.string().max(128).nullish(),
  status: z.enum(["completed", "failed"]),
  output: object.nullish(),
  error_message: z.string().max(8192).nullish(),
  execution_duration_ms: z.number().min(0).nullish(),
  metrics: object.nullish(),
});

const reportResults = defineContract({
  id: "reportResults",
  method: "POST",
  path: "/api/v1/callbacks/task-result",
  access: "service",
  summary: "Report the results of up to a hundred attempts, or one in the older format.",
  bodyLimit: 8 * 1024 * 1024,
  body: z.union([
    z.strictObject({ results: z.array(result).min(1).max(100) }),
    olderResult.transform((older) => ({ older })),
  ]),
  response: z
    .object({ accepted: z.array(z.string()), lost: z.array(z.string()) })
    .meta({ id: "ReportsTaken" }),
  errors: ["BAD_REQUEST"],
});

const reportProgress = defineContract({
  id: "reportProgress",
  method: "POST",
  path: "/api/v1/callbacks/task-progress",
  access: "service",
  summary: "Report the progress of running attempts.",
  body: z.strictObject({
    ...task,
    percent: z.number().min(0).max(100),
    message: z.string().max(1024).optional(),
  }),
  response: z.object({ accepted: z.boolean() }).meta({ id: "ProgressTaken" }),
  errors: ["BAD_REQUEST"],
});

const saveCheckpoint = defineContract({
  id: "saveCheckpoint",
  method: "POST",
  path: "/api/v1/callbacks/checkpoint",
  access: "service",
  summary: "Save a checkpoint, from which the next attempt continues.",
  bodyLimit: 8 * 1024 * 1024,
  body: z.strictObject({ ...task, phase: z.string().min(1).max(128), data: object }),
  response: z.object({ seq: count }).meta({ id: "CheckpointSaved" }),
  errors: ["BAD_REQUEST", "STALE_ATTEMPT"],
});

const loadCheckpoint = defineContract({
  id: "loadCheckpoint",
  method: "GET",
  path: "/api/v1/callbacks/checkpoint",
  access: "service",
  summary: "The newest checkpoint of a node, or null.",
  query: z.strictObject({ job_id: jobId, node_id: nodeId }),
  response: z
    .object({
      checkpoint: z.object({ seq: count, phase: z.string(), data: object }).nullable(),
    })
    .meta({ id: "CheckpointLoaded" }),
  errors: ["BAD_REQUEST"],
});

export const workerReportContracts = [
  reportResults,
  reportProgress,
  saveCheckpoint,
  loadCheckpoint,
] as const;
