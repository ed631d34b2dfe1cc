import { z } from "zod";
import type { Json, JsonObject } from "./model/json.ts";
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
  /** Values of the parameters that must not be shown: the worker hides them in logs and errors. */
  secrets: z.array(z.custom<Json>((value) => value !== undefined)).optional(),
  /** The context of the job's span; absent: the task is not traced. */
  trace_parent: z.string().optional(),
  /** Of a traced task, in milliseconds since 1970: how long it waited in the queue. */
  sent_at: z.number().optional(),
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

/** Python writes a field that was not given as null. */
function maybe<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * A submission by the job queue instead of the API. Strict: a field that is not understood must not
 * be dropped, or a job would run without what its submitter meant.
 */
export const jobMessage = z
  .strictObject({
    workflow_id: z.string().min(1).max(64),
    inputs: maybe(jsonObject),
    /** The same as `inputs`, as the existing platform names it. */
    input_params: maybe(jsonObject),
    priority: z.number().int().min(0).max(10).default(0),
    callback_url: maybe(z.url().max(512)),
    correlation_id: maybe(z.string().max(64)),
    submitted_by: maybe(z.string().max(64)),
    idempotency_key: maybe(z.string().min(1).max(128)),
    trace_parent: maybe(z.string().max(128)),
    /** When and as what it was sent; read, and not needed. */
    submitted_at: maybe(z.string().max(64)),
    message_id: maybe(z.string().max(128)),
  })
  .refine(({ inputs, input_params }) => inputs === undefined || input_params === undefined, {
    path: ["input_params"],
    message: "is another name of inputs: send one of the two",
  })
  .transform(({ inputs, input_params, submitted_at: _, message_id: __, ...message }) => ({
    ...message,
    inputs: inputs ?? input_params ?? {},
  }));
