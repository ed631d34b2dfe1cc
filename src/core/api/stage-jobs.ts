import { z } from "zod";
import { parallelism } from "../model/stage-job.ts";
import { defineContract, inputsBodyLimit } from "./contract.ts";
import { count, jobId, json, object, page, paging, timestamp } from "./schemas.ts";

/*
 * Jobs of stages, at the addresses and in the words of the older platform. They run as workflows, so
 * everything under /api/v1/jobs works on them too.
 */

const stageStatus = z.enum(["queued", "processing", "completed", "failed"]);

const submitStageJob = defineContract({
  id: "submitStageJob",
  method: "POST",
  path: "/api/jobs/submit/{job_type}",
  access: "operate",
  summary:
    "Start a job of stages; the body is its parameters. The same parameters are the same job, " +
    "whether it waits, runs or has ended.",
  params: z.object({ job_type: z.string().min(1).max(64) }),
  bodyLimit: inputsBodyLimit,
  body: object.default({}),
  response: z
    .object({
      job_id: z.string(),
      job_type: z.string(),
      status: stageStatus,
      parameters: object,
      total_stages: count,
      created: z.boolean(),
    })
    .meta({ id: "StageJobSubmitted" }),
  status: 202,
  also: { 200: "these parameters were submitted before, and this is their job" },
  errors: ["BAD_REQUEST", "INVALID_INPUTS", "INVALID_WORKFLOW", "WORKFLOW_NOT_FOUND"],
});

const stageResult = z
  .object({
    stage_number: count,
    stage_name: z.string(),
    task_type: z.string(),
    task_count: count,
    successful_tasks: count,
    failed_tasks: count,
    /** In the order of the tasks. */
    results: json,
  })
  .meta({ id: "StageResult" });

const getStageJob = defineContract({
  id: "getStageJob",
  method: "GET",
  path: "/api/jobs/status/{job_id}",
  access: "read",
  summary: "A job of stages: the stage that runs, and the results of those before it.",
  params: z.object({ job_id: jobId }),
  response: z
    .object({
      job_id: z.string(),
      job_type: z.string(),
      status: stageStatus,
      stage: count,
      total_stages: count,
      parameters: object,
      stage_results: z.record(z.string(), stageResult),
      result_data: object.nullable(),
      error_details: z.string().nullable(),
      stages: z.array(
        z.object({
          number: count,
          name: z.string(),
          task_type: z.string(),
          parallelism,
          status: stageStatus,
          /** Null until the stage has begun. */
          task_count: count.nullable(),
          completed_tasks: count,
          failed_tasks: count,
        }),
      ),
      created_at: timestamp,
      updated_at: timestamp,
    })
    .meta({ id: "StageJob" }),
  errors: ["JOB_NOT_FOUND"],
});

const listStageTasks = defineContract({
  id: "listStageTasks",
  method: "GET",
  path: "/api/jobs/tasks/{job_id}",
  access: "read",
  summary: "The tasks of one stage, in their order.",
  params: z.object({ job_id: jobId }),
  query: z.strictObject({
    stage: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, "must be the number of a stage")
      .transform(Number)
      .prefault("1")
      .describe("the number of the stage"),
    ...paging,
  }),
  response: page(
    z
      .object({
        task_id: z.string(),
        parent_job_id: z.string(),
        task_type: z.string(),
        status: stageStatus,
        stage: count,
        task_index: z.string(),
        parameters: object,
        result_data: object.nullable(),
        next_stage_params: object.nullable(),
        error_details: z.string().nullable(),
        retry_count: count,
        created_at: timestamp,
        updated_at: timestamp,
      })
      .meta({ id: "StageTask" }),
  ),
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

export const stageJobContracts = [submitStageJob, getStageJob, listStageTasks] as const;
