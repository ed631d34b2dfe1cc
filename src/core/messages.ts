import { z } from "zod";
import type { JsonObject } from "./model/json.ts";
import { isJsonObject, jsonObject } from "./model/json.ts";

/** What an orchestrator sends to a task queue: one attempt of one node. */
export const taskMessage = z.object({
  task_id: z.string(),
  job_id: z.string(),
  node_id: z.string(),
  handler: z.string(),
  /** Parsed from a JSON text, so its depths need no check. */
  params: z.custom<JsonObject>(isJsonObject, "expected an object"),
  queue: z.string(),
  timeout_seconds: z.number(),
  /** Attempts before this one, throttled ones included. */
  attempt: z.number().int(),
  retry_count: z.number().int(),
  correlation_id: z.string().optional(),
});
export type TaskMessage = z.infer<typeof taskMessage>;

/** How one attempt of a task ended. Output and error are JSON texts, and one of them is null. */
export interface TaskReport {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly status: "completed" | "failed";
  readonly output: string | null;
  readonly error: string | null;
  readonly worker_id: string;
}

/** A submission by the job queue instead of the API. */
export const jobMessage = z.object({
  workflow_id: z.string().min(1).max(64),
  inputs: jsonObject.default({}),
  priority: z.number().int().min(0).max(10).default(0),
  callback_url: z.url().max(512).optional(),
  correlation_id: z.string().max(64).optional(),
  submitted_by: z.string().max(64).optional(),
  idempotency_key: z.string().min(1).max(128).optional(),
});
