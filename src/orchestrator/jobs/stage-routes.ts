import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import type { JobWithoutNodes } from "../../adapters/postgres/queries/jobs.ts";
import type { StageNode, StageTaskRow } from "../../adapters/postgres/queries/stage-nodes.ts";
import { readStageNodes, readStageTasks } from "../../adapters/postgres/queries/stage-nodes.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { stageJobContracts } from "../../core/api/stage-jobs.ts";
import { parseTemplate, render } from "../../core/dag/language/template.ts";
import { stageTaskId } from "../../core/domain/stage-job-id.ts";
import { Problem } from "../../core/errors.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { NodeStatus } from "../../core/model/node.ts";
import type { StageJob } from "../../core/model/stage-job.ts";
import { createOutputStore } from "../engine/output-store.ts";
import { requireJob } from "./find-job.ts";
import type { Verbs } from "./verbs.ts";

export interface StageRouteDeps {
  readonly db: Database;
  readonly verbs: Verbs;
  readonly graphs: GraphCache;
  readonly storage: Storage;
}

type StageStatus = "queued" | "processing" | "completed" | "failed";
type Stage = StageJob["stages"][number];

const index = z.tuple([z.number().int().min(0)]);

export function stageRoutes(deps: StageRouteDeps): Handlers<typeof stageJobContracts> {
  const { db, verbs, graphs } = deps;
  const outputs = createOutputStore(deps.storage);

  async function requireStages(
    jobId: string,
  ): Promise<{ job: JobWithoutNodes; declared: StageJob }> {
    const job = await requireJob(db, jobId);
    const declared = (await graphs.graphOf(job.workflow_hash))?.definition.stages;
    if (declared !== undefined) return { job, declared };
    const detail = `Job "${jobId}" has no stages: see /api/v1/jobs/${jobId}.`;
    throw new Problem("JOB_NOT_FOUND", detail);
  }

  return {
    submitStageJob: async ({ params: { job_type }, body, caller, traceParent }) => {
      const { job_id, status, parameters, total_stages, created } = await verbs.submitStages(
        job_type,
        body,
        { submitted_by: caller?.name, trace_parent: traceParent },
      );
      return new Answer(
        { job_id, job_type, status: jobState(status), parameters, total_stages, created },
        {
          status: created ? 202 : 200,
          headers: { location: `/api/jobs/status/${job_id}` },
        },
      );
    },

    getStageJob: async ({ params: { job_id } }) => {
      const { job, declared } = await requireStages(job_id);
      const nodes = await readStageNodes(db, job_id);
      const stages = declared.stages.map((stage) => describeStage(stage, nodes));
      const ended = declared.stages.filter(
        ({ results_node }) => nodes.get(results_node)?.status === "completed",
      );
      const results = await Promise.all(
        ended.map(async (stage) => {
          const output = nodes.get(stage.results_node)?.output ?? {};
          return [String(stage.number), toStageResult(stage, await outputs.resolve(output))];
        }),
      );
      return {
        job_id,
        job_type: declared.job_type,
        status: jobState(job.status),
        stage: Math.min(ended.length + 1, declared.stages.length),
        total_stages: declared.stages.length,
        parameters: job.input_params,
        stage_results: Object.fromEntries(results) as Record<string, StageResult>,
        result_data: job.result_data === null ? null : withoutProvenance(job.result_data),
        error_details: job.error === null ? null : job.error.message,
        stages,
        created_at: job.created_at,
        updated_at: job.completed_at ?? latest(nodes) ?? job.created_at,
      };
    },

    listStageTasks: async ({ params: { job_id }, query: { stage: number, limit, cursor } }) => {
      const after = decodeCursor(cursor, index)?.[0];
      const { declared } = await requireStages(job_id);
      const stage = declared.stages.find((each) => each.number === number);
      if (stage === undefined) {
        throw new Problem("BAD_REQUEST", `The job has ${declared.stages.length} stages.`);
      }
      const { tasks, next } = await readStageTasks(db, job_id, stage.tasks_node, after, limit);
      const items = await Promise.all(
        tasks.map(async (row) => {
          const output = row.output && (await outputs.resolve(row.output));
          return toTask(job_id, stage, { ...row, output });
        }),
      );
      return { items, next_cursor: next === null ? null : encodeCursor([next]) };
    },
  };
}

function withoutProvenance(result: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(result).filter(([key]) => key !== "_provenance"));
}

function jobState(status: JobStatus): StageStatus {
  switch (status) {
    case "pending":
      return "queued";
    case "running":
      return "processing";
    case "completed":
      return "completed";
    case "failed":
    case "cancelled":
      return "failed";
  }
}

function taskState(status: NodeStatus, isRunning: boolean): StageStatus {
  switch (status) {
    case "pending":
    case "ready":
      return "queued";
    case "dispatched":
      return isRunning ? "processing" : "queued";
    case "running":
      return "processing";
    case "completed":
      return "completed";
    case "failed":
    case "skipped":
    case "cancelled":
      return "failed";
  }
}

function describeStage(stage: Stage, nodes: ReadonlyMap<string, StageNode>) {
  const { number, name, task_type, parallelism, tasks_node, results_node } = stage;
  const node = nodes.get(tasks_node);
  const hasEnded = nodes.get(results_node)?.status === "completed";
  const status = node?.status ?? "pending";
  return {
    number,
    name,
    task_type,
    parallelism,
    status: hasEnded
      ? ("completed" as const)
      : status === "completed"
        ? ("processing" as const)
        : taskState(status, false),
    task_count: node?.total ?? null,
    completed_tasks: node?.completed ?? 0,
    failed_tasks: node?.failed ?? 0,
  };
}

type StageResult = ReturnType<typeof toStageResult>;

function toStageResult({ number, name, task_type }: Stage, output: JsonObject) {
  const results = output["results"];
  const count = Number(output["count"] ?? 0);
  const failed = Number(output["failed_count"] ?? 0);
  return {
    stage_number: number,
    stage_name: name,
    task_type,
    task_count: count + failed,
    successful_tasks: count,
    failed_tasks: failed,
    results: Array.isArray(results) ? results : [],
  };
}

function toTask(jobId: string, stage: Stage, row: StageTaskRow) {
  const { output, params, error } = row;
  const task_index = nameTask(stage.task_index, params ?? {}) ?? String(row.fan_out_index);
  const handed = output?.["next_stage_params"];
  return {
    task_id: stageTaskId(jobId, stage.number, task_index),
    parent_job_id: jobId,
    task_type: stage.task_type,
    status: taskState(row.status, row.is_running),
    stage: stage.number,
    task_index,
    parameters: params ?? {},
    result_data: output ?? null,
    next_stage_params: isJsonObject(handed) ? handed : null,
    error_details: error?.message ?? null,
    retry_count: row.retry_count,
    created_at: row.created_at.toISOString(),
    updated_at: (row.completed_at ?? row.dispatched_at ?? row.created_at).toISOString(),
  };
}

/** Undefined if there is no name, or it cannot be made of these parameters. */
function nameTask(text: string | undefined, parameters: JsonObject): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseTemplate(text.replaceAll(/(?<![\w.])parameters(?=[.[])/g, "inputs"));
  if (!parsed.ok) return undefined;
  const context = { inputs: parameters, job: {}, env: {}, node: () => undefined };
  const rendered = render(parsed.template, context);
  if (!rendered.ok) return undefined;
  return typeof rendered.value === "string" ? rendered.value : JSON.stringify(rendered.value);
}

function latest(nodes: ReadonlyMap<string, StageNode>): string | undefined {
  const times = [...nodes.values()].flatMap(({ changed_at }) => changed_at ?? []);
  const last = times.reduce((max, time) => Math.max(max, time.getTime()), 0);
  return last === 0 ? undefined : times.find((time) => time.getTime() === last)?.toISOString();
}
