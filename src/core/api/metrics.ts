import { z } from "zod";
import { defineContract } from "./contract.ts";
import { jobCounts, jobFilter } from "./job-schemas.ts";
import { count, integer, page, timestamp } from "./schemas.ts";

const seconds = z.number().nullable();
const days = integer(1, 365).prefault(7).describe("how far back");
const workflowId = z.string().max(64).optional();

const getWorkflowMetrics = defineContract({
  id: "getWorkflowMetrics",
  method: "GET",
  path: "/api/v1/metrics/workflows",
  access: "read",
  summary: "Per workflow: how many jobs, how they ended, how long they took.",
  query: z.strictObject({ workflow_id: workflowId, days }),
  response: page(
    z
      .object({
        workflow_id: z.string(),
        total_jobs: count,
        completed: count,
        failed: count,
        cancelled: count,
        success_rate: z.number().nullable().describe("of those that completed or failed"),
        avg_duration: seconds,
        p50_duration: seconds,
        p95_duration: seconds,
        common_failures: z
          .array(
            z.object({
              node_id: z.string().nullable(),
              error_code: z.string().nullable(),
              error_message: z.string().nullable(),
              occurrences: count,
            }),
          )
          .describe("the three most frequent"),
      })
      .meta({ id: "WorkflowMetrics" }),
  ),
  errors: ["BAD_REQUEST"],
});

const getNodeMetrics = defineContract({
  id: "getNodeMetrics",
  method: "GET",
  path: "/api/v1/metrics/workflows/{workflow_id}/nodes",
  access: "read",
  summary: "Per node of a workflow; the children of a fan-out count for it.",
  params: z.object({ workflow_id: z.string().min(1).max(64) }),
  query: z.strictObject({ days }),
  response: page(
    z
      .object({
        node_id: z.string(),
        total_executions: count,
        completed: count,
        failed: count,
        success_rate: z.number().nullable(),
        avg_duration: seconds,
        total_retries: count,
      })
      .meta({ id: "NodeMetrics" }),
  ),
  errors: ["BAD_REQUEST"],
});

const getFailures = defineContract({
  id: "getFailures",
  method: "GET",
  path: "/api/v1/metrics/failures",
  access: "read",
  summary: "What fails most, by workflow, node and message.",
  query: z.strictObject({ workflow_id: workflowId, days, limit: integer(1, 500).prefault(20) }),
  response: page(
    z
      .object({
        workflow_id: z.string(),
        node_id: z.string().nullable(),
        error_code: z.string().nullable(),
        error_message: z.string(),
        occurrences: count,
        last_job_id: z.string(),
        last_at: timestamp,
      })
      .meta({ id: "Failure" }),
  ),
  errors: ["BAD_REQUEST"],
});

const getThroughput = defineContract({
  id: "getThroughput",
  method: "GET",
  path: "/api/v1/metrics/throughput",
  access: "read",
  summary: "Jobs that ended, in equal steps of time, including steps without any.",
  query: z.strictObject({
    workflow_id: workflowId,
    hours: integer(1, 24 * 31).prefault(24),
    bucket_minutes: integer(1, 24 * 60).prefault(60),
  }),
  response: page(
    z
      .object({
        bucket_at: timestamp,
        completed: count,
        failed: count,
        cancelled: count,
        avg_duration: seconds,
      })
      .meta({ id: "Throughput" }),
  ),
  errors: ["BAD_REQUEST"],
});

const countJobs = defineContract({
  id: "countJobs",
  method: "GET",
  path: "/api/v1/metrics/jobs",
  access: "read",
  summary: "How many jobs in each state a filter of the job list finds.",
  query: jobFilter,
  response: jobCounts,
  errors: ["BAD_REQUEST"],
});

const getPrometheus = defineContract({
  id: "getPrometheus",
  method: "GET",
  path: "/metrics",
  access: "read",
  summary: "All metrics, in the text format of Prometheus.",
  response: z.string(),
  media: "text/plain",
  errors: ["UNAUTHENTICATED"],
});

export const metricContracts = [
  getWorkflowMetrics,
  getNodeMetrics,
  getFailures,
  getThroughput,
  countJobs,
  getPrometheus,
] as const;
