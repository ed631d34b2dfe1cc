import { z } from "zod";
import { contractData, handlerName, queueName } from "../handlers/contract-data.ts";
import { valueLimits } from "../model/limits.ts";
import { errorCategory, taskError } from "../model/task.ts";
import { defineContract } from "./contract.ts";
import { count, json, object } from "./schemas.ts";

/*
 * The protocol of workers that reach the orchestrator and nothing else: docs/worker-protocol.md. A
 * worker is named by its token and the `worker_id` that it chooses; a lease belongs to that worker.
 */

const workerId = z.string().regex(/^[\w.:-]{1,64}$/, "must be 1 to 64 letters, digits or . _ : -");
const lease = z.string().regex(/^\d{1,15}\.\d{1,6}$/, "must be a lease that was given");
const leases = z.array(lease).max(1000);
/** Of PostgreSQL's type integer. */
const largestInteger = 2 ** 31 - 1;
/** Room for the largest output that a task may have, and for what stands around it. */
const bodyLimit = valueLimits.output + 1024 * 1024;

const register = defineContract({
  id: "registerWorker",
  method: "POST",
  path: "/api/v1/worker/register",
  access: "work",
  summary: "Register a worker process with the handlers that it offers. Repeat it at any time.",
  bodyLimit: 4 * 1024 * 1024,
  body: z.strictObject({
    worker_id: workerId,
    queues: z.array(queueName).min(1).max(50),
    slots: z.number().int().min(1).max(10_000).default(1),
    host: z.string().max(255).default("unknown"),
    pid: z.number().int().min(0).max(largestInteger).default(0),
    version: z.string().max(64).default("unknown"),
    handlers: z.array(contractData).max(500),
  }),
  response: z
    .object({
      worker: z.string().describe("the name of this worker in lists: the token's, and its own"),
      heartbeat_seconds: z.number().describe("renew at least this often, with no lease too"),
      lease_seconds: z.number(),
    })
    .meta({ id: "WorkerRegistered" }),
  errors: ["BAD_REQUEST", "FORBIDDEN", "HANDLER_RESERVED"],
});

const task = z
  .object({
    lease,
    lease_seconds: z.number().describe("renew within this time, or the task is given to another"),
    delivery_count: count,
    task_id: z.string(),
    job_id: z.string(),
    node_id: z.string(),
    handler: z.string(),
    params: object,
    queue: z.string(),
    timeout_seconds: z.number(),
    attempt: count,
    retry_count: count,
    correlation_id: z.string().optional(),
    secrets: z.array(json).optional().describe("values that must not be shown in logs and errors"),
    trace_parent: z
      .string()
      .optional()
      .describe("the parent of the task's spans, as the header `traceparent`; absent: not traced"),
    sent_at: z.number().optional().describe("of a traced task: milliseconds since 1970"),
    checkpoint: z
      .object({ phase: z.string(), data: object })
      .nullable()
      .describe("the newest of the node, also of an earlier attempt or another worker"),
  })
  .meta({ id: "LeasedTask" });

const take = defineContract({
  id: "leaseTasks",
  method: "POST",
  path: "/api/v1/worker/lease",
  access: "work",
  summary: "Lease up to `max` tasks; waits up to `wait_seconds` while there are none.",
  body: z.strictObject({
    worker_id: workerId,
    max: z.number().int().min(1).max(1000).default(1),
    wait_seconds: z.number().min(0).max(25).default(20),
    queues: z.array(queueName).min(1).max(50).optional().describe("those of the registration"),
    handlers: z.array(handlerName).max(500).optional().describe("fewer than were registered"),
  }),
  response: z.object({ tasks: z.array(task) }).meta({ id: "LeasedTasks" }),
  errors: ["BAD_REQUEST", "FORBIDDEN", "WORKER_NOT_REGISTERED"],
});

const renew = defineContract({
  id: "renewLeases",
  method: "POST",
  path: "/api/v1/worker/renew",
  access: "work",
  summary: "Renew leases, with the progress of their tasks; answers what is cancelled or lost.",
  bodyLimit: 1024 * 1024,
  body: z.strictObject({
    worker_id: workerId,
    leases: leases.default([]),
    progress: z
      .array(
        z.object({
          lease,
          percent: z.number().min(0).max(100),
          message: z.string().max(1024).nullish(),
        }),
      )
      .max(1000)
      .default([]),
    busy: count.max(largestInteger).optional(),
  }),
  response: z
    .object({ held: z.array(lease), cancelled: z.array(lease), lost: z.array(lease) })
    .meta({ id: "LeasesRenewed" }),
  errors: ["BAD_REQUEST", "WORKER_NOT_REGISTERED"],
});

const result = z.object({
  lease,
  task_id: z.string().max(255).optional(),
  status: z.enum(["completed", "failed"]),
  output: object.nullish(),
  error: taskError
    .partial({ code: true, category: true })
    .extend({ details: object.optional() })
    .nullish(),
  error_message: z.string().max(8192).nullish(),
  category: errorCategory.nullish(),
  execution_duration_ms: z.number().min(0).nullish(),
  metrics: object.nullish(),
});

const report = defineContract({
  id: "reportTasks",
  method: "POST",
  path: "/api/v1/worker/report",
  access: "work",
  summary: "Report how tasks ended; this gives their leases back.",
  bodyLimit,
  body: z.strictObject({ worker_id: workerId, results: z.array(result).min(1).max(1000) }),
  response: z
    .object({ accepted: z.array(lease), lost: z.array(lease) })
    .meta({ id: "TasksReported" }),
  errors: ["BAD_REQUEST", "PAYLOAD_TOO_LARGE", "WORKER_NOT_REGISTERED"],
});

const saveCheckpoint = defineContract({
  id: "saveTaskCheckpoint",
  method: "POST",
  path: "/api/v1/worker/checkpoint",
  access: "work",
  summary: "Save a checkpoint, with which the next attempt of the node starts.",
  bodyLimit: 2 * 1024 * 1024,
  body: z.strictObject({
    worker_id: workerId,
    lease,
    phase: z.string().min(1).max(128),
    data: object,
  }),
  response: z.object({ seq: count }).meta({ id: "TaskCheckpointSaved" }),
  errors: ["BAD_REQUEST", "STALE_ATTEMPT"],
});

const log = defineContract({
  id: "logTasks",
  method: "POST",
  path: "/api/v1/worker/log",
  access: "work",
  summary: "Add lines to the logs of tasks.",
  bodyLimit: 4 * 1024 * 1024,
  body: z.strictObject({
    worker_id: workerId,
    lines: z
      .array(
        z.object({
          lease,
          level: z.enum(["debug", "info", "warn", "error"]).default("info"),
          message: z.string().max(8192),
          data: object.nullish(),
        }),
      )
      .min(1)
      .max(1000),
  }),
  response: z.object({ stored: count }).meta({ id: "LinesStored" }),
  errors: ["BAD_REQUEST"],
});

const release = defineContract({
  id: "releaseTasks",
  method: "POST",
  path: "/api/v1/worker/release",
  access: "work",
  summary: "Give tasks back as if they had never been leased. `leave` removes the worker as well.",
  body: z.strictObject({
    worker_id: workerId,
    leases: leases.default([]),
    leave: z.boolean().default(false),
  }),
  response: z
    .object({ released: z.array(lease), lost: z.array(lease) })
    .meta({ id: "TasksReleased" }),
  errors: ["BAD_REQUEST"],
});

const address = defineContract({
  id: "signAddress",
  method: "POST",
  path: "/api/v1/worker/storage",
  access: "work",
  summary: "An address in storage for a task that is held: to read an object, or to put one.",
  body: z.strictObject({
    worker_id: workerId,
    lease,
    path: z.string().min(1).max(1024),
    method: z.enum(["GET", "PUT"]),
  }),
  response: z
    .object({
      url: z.string(),
      method: z.string(),
      headers: z.record(z.string(), z.string()).describe("to be sent with the request"),
    })
    .meta({ id: "SignedAddress" }),
  errors: ["BAD_REQUEST", "FORBIDDEN", "NOT_FOUND", "STALE_ATTEMPT"],
});

export const remoteWorkerContracts = [
  register,
  take,
  renew,
  report,
  saveCheckpoint,
  log,
  release,
  address,
] as const;
