import { z } from "zod";
import { jobStatus } from "../model/job.ts";
import { nodeStatus } from "../model/node.ts";
import { taskError } from "../model/task.ts";
import { defineContract } from "./contract.ts";
import { currentTask, nodeSummary, submitted } from "./job-schemas.ts";
import { count, jobId, nodeId, object, page, paging, timestamp } from "./schemas.ts";

const one = z.object({ job_id: jobId, node_id: nodeId });

const error = taskError.extend({ details: object.optional() }).nullable();

const listJobNodes = defineContract({
  id: "listJobNodes",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/nodes",
  access: "read",
  summary: "The nodes of a job; with `parent`, the children of that fan-out in their order.",
  params: z.object({ job_id: jobId }),
  query: z.strictObject({
    parent: nodeId.optional(),
    status: nodeStatus.optional(),
    ...paging,
  }),
  response: page(nodeSummary),
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND", "NODE_NOT_FOUND"],
});

const getNode = defineContract({
  id: "getNode",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/nodes/{node_id}",
  access: "read",
  summary:
    "One node with its parameters, output, attempts and checkpoints. A large value is given as " +
    "`$ref`: the address of the route that gives it whole, with the place in it.",
  params: one,
  response: z
    .object({
      ...nodeSummary.shape,
      job_id: z.string(),
      timeout_seconds: z.number().nullable(),
      params: object.nullable(),
      output: object.nullable(),
      attempts: z.array(
        z.object({
          task_id: z.string(),
          status: z.enum(["completed", "failed"]),
          worker_id: z.string().nullable(),
          error,
          started_at: timestamp.nullable(),
          reported_at: timestamp,
          metrics: object.nullable().describe("numbers that the handler measured"),
          execution_duration_ms: z.number().nullable().describe("as the worker measured it"),
        }),
      ),
      checkpoints: z.array(
        z.object({
          seq: z.number().int(),
          task_id: z.string(),
          phase: z.string(),
          data: object,
          created_at: timestamp,
        }),
      ),
      logs: z.string().describe("where the node's log lines are"),
    })
    .meta({ id: "Node" }),
  errors: ["JOB_NOT_FOUND", "NODE_NOT_FOUND"],
});

const getNodeOutput = defineContract({
  id: "getNodeOutput",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/nodes/{node_id}/output",
  access: "read",
  summary: "The whole output of a node as JSON, however large it is.",
  params: one,
  response: z.string(),
  media: "application/json",
  errors: ["JOB_NOT_FOUND", "NODE_NOT_FOUND", "RESULT_NOT_READY", "NOT_FOUND"],
});

const getNodeParams = defineContract({
  id: "getNodeParams",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/nodes/{node_id}/params",
  access: "read",
  summary: "The whole parameters of a node as JSON, however large they are.",
  params: one,
  response: z.string(),
  media: "application/json",
  errors: ["JOB_NOT_FOUND", "NODE_NOT_FOUND", "RESULT_NOT_READY", "NOT_FOUND"],
});

const getNodeProgress = defineContract({
  id: "getNodeProgress",
  method: "GET",
  path: "/api/v1/jobs/{job_id}/nodes/{node_id}/progress",
  access: "read",
  summary: "The progress of one node.",
  params: one,
  response: z
    .object({
      job_id: z.string(),
      node_id: z.string(),
      status: nodeStatus,
      percent: z.number(),
      task: currentTask.nullable(),
      children: nodeSummary.shape.children,
    })
    .meta({ id: "NodeProgress" }),
  errors: ["JOB_NOT_FOUND", "NODE_NOT_FOUND"],
});

const retryNode = defineContract({
  id: "retryNode",
  method: "POST",
  path: "/api/v1/jobs/{job_id}/nodes/{node_id}/retry",
  access: "operate",
  summary:
    "Start the next attempt of a node that waits for it; of a finished job, a new job that runs " +
    "from this node on.",
  params: one,
  response: submitted,
  status: 202,
  also: { 200: "the job runs, and the node's next attempt is due now" },
  errors: [
    "JOB_NOT_FOUND",
    "NODE_NOT_FOUND",
    "TRANSITION_REFUSED",
    "INVALID_INPUTS",
    "INVALID_WORKFLOW",
    "WORKFLOW_NOT_FOUND",
    "WORKFLOW_CHANGED",
  ],
});

const listNodes = defineContract({
  id: "listNodes",
  method: "GET",
  path: "/api/v1/nodes",
  access: "read",
  summary: "Nodes of all jobs, those of the newest job first.",
  query: z.strictObject({
    status: nodeStatus.optional(),
    handler: z.string().max(64).optional(),
    queue: z.string().max(64).optional(),
    workflow_id: z.string().max(64).optional(),
    job_id: jobId.optional(),
    worker_id: z.string().max(128).optional().describe("that runs or ran the last attempt"),
    error: z.string().min(1).max(200).optional().describe("a part of the error, or its code"),
    ...paging,
  }),
  response: page(
    z
      .object({
        ...nodeSummary.omit({ wait_reason: true, children: true }).shape,
        job_id: z.string(),
        workflow_id: z.string(),
        job_status: jobStatus,
      })
      .meta({ id: "NodeOfJob" }),
  ),
  errors: ["BAD_REQUEST"],
});

const listTasks = defineContract({
  id: "listTasks",
  method: "GET",
  path: "/api/v1/tasks",
  access: "read",
  summary: "Results as workers reported them, those of the newest jobs first.",
  query: z.strictObject({
    job_id: jobId.optional(),
    node_id: nodeId.optional(),
    status: z.enum(["completed", "failed"]).optional(),
    worker_id: z.string().max(128).optional(),
    ...paging,
  }),
  response: page(
    z
      .object({
        task_id: z.string(),
        job_id: z.string(),
        node_id: z.string(),
        status: z.enum(["completed", "failed"]),
        error,
        worker_id: z.string().nullable(),
        started_at: timestamp.nullable(),
        reported_at: timestamp,
        seconds: z.number().nullable(),
        output_bytes: count.nullable(),
      })
      .meta({ id: "Task" }),
  ),
  errors: ["BAD_REQUEST"],
});

export const nodeContracts = [
  listJobNodes,
  getNode,
  getNodeOutput,
  getNodeParams,
  getNodeProgress,
  retryNode,
  listNodes,
  listTasks,
] as const;
