/** Handlers that read or change the platform itself: reviews, health, and the end of a workflow. */
import { z } from "zod";
import { assetId, clearanceState } from "../model/asset.ts";
import { approvalState, processingState } from "../model/version.ts";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";

const version = { asset_id: assetId, version_ordinal: z.number().int().min(0) };
const actor = z.string().min(1).max(128).nullish();

const reviewed = z.object({
  ...version,
  approval_state: approvalState,
  clearance_state: clearanceState,
  processing_state: processingState,
});

const finalize = defineContract({
  name: "finalize",
  description: "Ends a workflow: returns the outputs of the nodes before it.",
  params: z.looseObject({ results: z.json().nullish() }),
  result: z.looseObject({ finalized: z.literal(true) }),
  queue: queueFor.light,
  timeout_seconds: 60,
});

const triggerApproval = defineContract({
  name: "trigger_approval",
  description: "Makes sure that a processed version waits for its review.",
  params: z.strictObject(version),
  result: reviewed,
  queue: queueFor.light,
  timeout_seconds: 120,
});

const approveDataset = defineContract({
  name: "approve_dataset",
  description: "Approves a version and sets the clearance of its asset; public starts its export.",
  params: z.strictObject({
    ...version,
    clearance: z.enum(["ouo", "public"]).default("ouo"),
    /** The person who decided; without one the workflow is named. */
    reviewer: actor,
    note: z.string().max(1024).nullish(),
  }),
  result: reviewed,
  queue: queueFor.light,
  timeout_seconds: 120,
});

const rejectDataset = defineContract({
  name: "reject_dataset",
  description: "Rejects a version, with the reason that its partner is told.",
  params: z.strictObject({
    ...version,
    reason: z.string().min(1).max(1024),
    reviewer: actor,
  }),
  result: reviewed,
  queue: queueFor.light,
  timeout_seconds: 120,
});

const text = z.string();

const jobHealthCheck = defineContract({
  name: "job_health_check",
  description: "Lists the jobs that have not moved for a while. Changes nothing.",
  params: z.strictObject({
    stalled_minutes: z.number().min(1).max(100_000).default(60),
    limit: z.number().int().min(1).max(1000).default(100),
  }),
  result: z.object({
    active_jobs: z.number().int(),
    stalled_count: z.number().int(),
    stalled_jobs: z.array(
      z.object({
        job_id: text,
        workflow_id: text,
        status: text,
        idle_seconds: z.number(),
        unsettled_nodes: z.number().int(),
      }),
    ),
  }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

const taskWatchdog = defineContract({
  name: "task_watchdog",
  description:
    "Lists the tasks that run longer than their time limit or wait for a worker too long.",
  params: z.strictObject({
    waiting_minutes: z.number().min(1).max(100_000).default(60),
    limit: z.number().int().min(1).max(1000).default(100),
  }),
  result: z.object({
    running_tasks: z.number().int(),
    waiting_tasks: z.number().int(),
    overdue_tasks: z.array(
      z.object({
        task_id: text,
        job_id: text,
        node_id: text,
        handler: text,
        queue: text,
        state: z.enum(["running", "waiting"]),
        seconds: z.number(),
        timeout_seconds: z.number().nullable(),
        worker_id: text.nullable(),
      }),
    ),
  }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

export const platformContracts = [
  finalize,
  triggerApproval,
  approveDataset,
  rejectDataset,
  jobHealthCheck,
  taskWatchdog,
] as const;
