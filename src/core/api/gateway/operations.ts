/**
 * Routes for the platform's own operators: jobs by their ids, the configuration, the other
 * programs.
 */
import { z } from "zod";
import { jobStatus } from "../../model/job.ts";
import { defineContract } from "../contract.ts";
import { jobCounts, jobSummary, nodeSummary } from "../job-schemas.ts";
import { count, integer, jobId, object, page, paging, timestamp } from "../schemas.ts";

const operatorJob = z
  .object({
    ...jobSummary.pick({
      job_id: true,
      workflow_id: true,
      workflow_version: true,
      status: true,
      priority: true,
      correlation_id: true,
      submitted_by: true,
      owner_id: true,
      nodes_total: true,
      nodes_settled: true,
      created_at: true,
      started_at: true,
      updated_at: true,
      completed_at: true,
    }).shape,
    idempotency_key: z.string().nullable(),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    failed_node_id: z.string().nullable(),
  })
  .meta({ id: "OperatorJob" });

const operatorEvent = z
  .object({
    job_id: z.string(),
    seq: z.number().int(),
    event_type: z.string(),
    event_status: z.string(),
    node_id: z.string().nullable(),
    task_id: z.string().nullable(),
    event_data: object.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "OperatorEvent" });

const one = z.object({ job_id: jobId });
const limit = integer(1, 500).prefault(50);

const statusJob = defineContract({
  id: "statusJob",
  method: "GET",
  path: "/api/status/job/{job_id}",
  access: "operate",
  summary: "A job by its own id.",
  params: one,
  response: operatorJob,
  errors: ["JOB_NOT_FOUND"],
});

const statusJobs = defineContract({
  id: "statusJobs",
  method: "GET",
  path: "/api/status/jobs",
  access: "operate",
  summary: "Jobs, the newest first.",
  query: z.strictObject({
    status: jobStatus.optional(),
    workflow_id: z.string().max(64).optional(),
    ...paging,
  }),
  response: page(operatorJob),
  errors: ["BAD_REQUEST"],
});

const statusNodes = defineContract({
  id: "statusNodes",
  method: "GET",
  path: "/api/status/job/{job_id}/nodes",
  access: "operate",
  summary: "The nodes of a job; at most 1,000, children of fan-outs last.",
  params: one,
  response: page(
    z
      .object({
        ...nodeSummary.pick({
          node_id: true,
          node_type: true,
          status: true,
          parent_node_id: true,
          fan_out_index: true,
          attempt: true,
          retry_count: true,
          handler: true,
          queue: true,
          worker_id: true,
          started_at: true,
          completed_at: true,
        }).shape,
        error: object.nullable(),
      })
      .meta({ id: "OperatorNode" }),
  ),
  errors: ["JOB_NOT_FOUND"],
});

const statusEvents = defineContract({
  id: "statusEvents",
  method: "GET",
  path: "/api/status/job/{job_id}/events",
  access: "operate",
  summary: "Everything that happened to a job, the oldest first.",
  params: one,
  query: z.strictObject({ after: integer(0, 2_147_483_647).prefault(0), limit }),
  response: page(operatorEvent),
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

const statusStats = defineContract({
  id: "statusStats",
  method: "GET",
  path: "/api/status/stats",
  access: "operate",
  summary: "How many jobs are in each state.",
  response: jobCounts,
  errors: ["UNAVAILABLE"],
});

const statusLookup = defineContract({
  id: "statusLookup",
  method: "GET",
  path: "/api/status/lookup",
  access: "operate",
  summary: "The jobs of a request (its correlation id), or the one of an idempotency key.",
  query: z
    .strictObject({
      correlation_id: z.string().min(1).max(64).optional(),
      idempotency_key: z.string().min(1).max(128).optional(),
    })
    .refine((query) => Object.keys(query).length === 1, {
      path: ["correlation_id"],
      message: "say either correlation_id or idempotency_key",
    }),
  response: page(operatorJob),
  errors: ["BAD_REQUEST"],
});

const adminHealth = defineContract({
  id: "adminHealth",
  method: "GET",
  path: "/api/admin/health",
  access: "operate",
  summary: "Every part that the gateway depends on, and whether it answers.",
  response: z
    .object({
      status: z.enum(["ok", "degraded", "down"]),
      version: z.string(),
      checks: z.record(z.string(), z.string()),
      targets: z.record(z.string(), z.enum(["ok", "down"])),
      orchestrators: count.nullable(),
      workers: count.nullable(),
    })
    .meta({ id: "AdminHealth" }),
  errors: ["INTERNAL"],
});

const adminConfig = defineContract({
  id: "adminConfig",
  method: "GET",
  path: "/api/admin/config",
  access: "operate",
  summary: "The configuration, without anything secret.",
  response: object,
  errors: ["INTERNAL"],
});

const adminActiveJobs = defineContract({
  id: "adminActiveJobs",
  method: "GET",
  path: "/api/admin/active-jobs",
  access: "operate",
  summary: "Jobs that wait or run, the newest first.",
  query: z.strictObject({ limit }),
  response: page(operatorJob),
  errors: ["BAD_REQUEST"],
});

const adminRecentEvents = defineContract({
  id: "adminRecentEvents",
  method: "GET",
  path: "/api/admin/recent-events",
  access: "operate",
  summary: "What happened to any job within the last hour, the newest first.",
  query: z.strictObject({ limit }),
  response: page(operatorEvent),
  errors: ["BAD_REQUEST"],
});

const adminWorkflows = defineContract({
  id: "adminWorkflows",
  method: "GET",
  path: "/api/admin/workflows",
  access: "operate",
  summary: "The workflows that can be submitted.",
  response: page(
    z
      .object({
        workflow_id: z.string(),
        version: z.string(),
        name: z.string().nullable(),
        description: z.string().nullable(),
        inputs: z.record(z.string(), z.unknown()).nullable(),
      })
      .meta({ id: "OfferedWorkflow" }),
  ),
  errors: ["UNAVAILABLE"],
});

export const operationContracts = [
  statusJob,
  statusJobs,
  statusNodes,
  statusEvents,
  statusStats,
  statusLookup,
  adminHealth,
  adminConfig,
  adminActiveJobs,
  adminRecentEvents,
  adminWorkflows,
] as const;
