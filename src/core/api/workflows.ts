import { z } from "zod";
import { jobStatus } from "../model/job.ts";
import { nodeStatus, nodeType } from "../model/node.ts";
import { inputDeclaration } from "../model/workflow.ts";
import { defineContract } from "./contract.ts";
import { count, integer, json, object, page, timestamp } from "./schemas.ts";

const id = z.object({ workflow_id: z.string().min(1).max(64) });

/** Nodes come after all nodes that they depend on, so a drawing may place them in order. */
const graph = z
  .object({
    nodes: z.array(
      z.object({
        node_id: z.string(),
        node_type: nodeType,
        name: z.string().nullable(),
        join: z.enum(["all_of", "any_of"]),
        handler: z.string().nullable(),
        queue: z.string().nullable(),
      }),
    ),
    edges: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        label: z.string().nullable(),
        branches: z
          .array(count)
          .nullable()
          .describe("of a conditional: the branches that lead along this edge"),
      }),
    ),
  })
  .meta({ id: "WorkflowGraph" });
export type WorkflowGraph = z.infer<typeof graph>;

const inputs = z.record(
  z.string(),
  inputDeclaration.extend({ default: json.optional(), enum: z.array(json).optional() }),
);

const summary = z
  .object({
    workflow_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    version: z.string(),
    workflow_hash: z.string(),
    is_active: z.boolean(),
    node_count: count,
    inputs: inputs.nullable(),
    updated_at: timestamp,
  })
  .meta({ id: "WorkflowSummary" });

const version = z
  .object({
    workflow_hash: z.string(),
    version: z.string(),
    is_current: z.boolean(),
    created_at: timestamp,
  })
  .meta({ id: "WorkflowVersion" });

const listWorkflows = defineContract({
  id: "listWorkflows",
  method: "GET",
  path: "/api/v1/workflows",
  access: "read",
  summary: "Every workflow that can be submitted, by name.",
  response: page(summary),
  errors: ["UNAUTHENTICATED"],
});

const getWorkflow = defineContract({
  id: "getWorkflow",
  method: "GET",
  path: "/api/v1/workflows/{workflow_id}",
  access: "read",
  summary: "A workflow as new submissions use it, with all its versions.",
  params: id,
  response: z
    .object({
      ...summary.shape,
      definition: object,
      source: z.string().nullable(),
      graph,
      versions: z.array(version),
    })
    .meta({ id: "Workflow" }),
  errors: ["WORKFLOW_NOT_FOUND", "INVALID_WORKFLOW"],
});

const getWorkflowVersion = defineContract({
  id: "getWorkflowVersion",
  method: "GET",
  path: "/api/v1/workflows/{workflow_id}/versions/{workflow_hash}",
  access: "read",
  summary: "One version of a workflow, as the jobs that carry its hash see it.",
  params: id.extend({ workflow_hash: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits") }),
  response: z
    .object({
      workflow_id: z.string(),
      ...version.shape,
      definition: object,
      source: z.string().nullable(),
      graph,
    })
    .meta({ id: "WorkflowVersionDetail" }),
  errors: ["BAD_REQUEST", "WORKFLOW_NOT_FOUND"],
});

const listWorkflowRuns = defineContract({
  id: "listWorkflowRuns",
  method: "GET",
  path: "/api/v1/workflows/{workflow_id}/runs",
  access: "read",
  summary: "The last jobs of a workflow with the state and the seconds of each static node.",
  params: id,
  query: z.strictObject({ limit: integer(1, 100).prefault(25) }),
  response: page(
    z
      .object({
        job_id: z.string(),
        workflow_hash: z.string(),
        status: jobStatus,
        created_at: timestamp,
        started_at: timestamp.nullable(),
        completed_at: timestamp.nullable(),
        nodes: z.array(
          z.object({ node_id: z.string(), status: nodeStatus, seconds: z.number().nullable() }),
        ),
      })
      .meta({ id: "WorkflowRun" }),
  ),
  errors: ["BAD_REQUEST", "WORKFLOW_NOT_FOUND"],
});

const validateWorkflow = defineContract({
  id: "validateWorkflow",
  method: "POST",
  path: "/api/v1/workflows/validate",
  access: "read",
  summary: "Check the text of a workflow (YAML, or JSON, which is YAML) without storing it.",
  bodyLimit: 2 * 1024 * 1024,
  body: z.strictObject({
    text: z.string().max(1024 * 1024),
    workflow_id: z
      .string()
      .max(64)
      .optional()
      .describe("for a text that names none; a file's name would do the same"),
  }),
  response: z
    .object({
      valid: z.boolean(),
      workflow_id: z.string().nullable(),
      workflow_hash: z.string().nullable(),
      findings: z.array(
        z.object({
          line: z.number().int(),
          column: z.number().int(),
          code: z.string(),
          severity: z.enum(["error", "warning"]),
          message: z.string(),
        }),
      ),
      graph: graph.nullable(),
    })
    .meta({ id: "Validation" }),
  errors: ["BAD_REQUEST", "PAYLOAD_TOO_LARGE"],
});

export const workflowContracts = [
  listWorkflows,
  getWorkflow,
  getWorkflowVersion,
  listWorkflowRuns,
  validateWorkflow,
] as const;
