import { z } from "zod";
import { mostChildren } from "../../model/limits.ts";
import { parallelism } from "../../model/stage-job.ts";
import { retryPolicy } from "../../model/workflow.ts";

/*
 * A job of stages, as the older platform declares it: each stage is one kind of task, run once or many
 * times, and begins when all tasks of the stage before it have ended. It is compiled to a workflow.
 */

const name = z.string().min(1).max(64);
const mapping = z.record(z.string(), z.json());

export const stage = z.strictObject({
  number: z.number().int().min(1).optional(),
  stage_number: z.number().int().min(1).optional(),
  name: name.optional(),
  stage_name: name.optional(),
  description: z.string().max(4096).optional(),
  task_type: name,
  parallelism: parallelism.default("single"),
  /** How many tasks: a number, or a template of the parameters. */
  count: z.union([z.number().int().min(0).max(mostChildren), z.string().min(1)]).optional(),
  /** The list that gives each task its `item`: a template, or the list itself. */
  tasks: z.union([z.string().min(1), z.array(z.json())]).optional(),
  /** The parameters of a task, or one template that gives them all. */
  parameters: z.union([mapping, z.string().min(1)]).optional(),
  /** A name of the task made of its own parameters, such as `tile-{{ parameters.x }}`. */
  task_index: z.string().min(1).max(255).optional(),
  queue: z.string().min(1).max(64).optional(),
  max_parallel_tasks: z.number().int().min(1).optional(),
  timeout_minutes: z
    .number()
    .positive()
    .max(7 * 24 * 60)
    .optional(),
  depends_on_stage: z.number().int().min(1).nullish(),
  retry: retryPolicy.optional(),
});
export type Stage = z.output<typeof stage>;

const parameterTypes = z.enum([
  "str",
  "int",
  "float",
  "bool",
  "list",
  "dict",
  "string",
  "integer",
  "number",
  "boolean",
  "array",
  "object",
]);

export const parameter = z.strictObject({
  type: parameterTypes.default("str"),
  required: z.boolean().default(false),
  default: z.json().optional(),
  description: z.string().max(4096).optional(),
  enum: z.array(z.json()).min(1).optional(),
  choices: z.array(z.json()).min(1).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().max(1024).optional(),
});

export const declaration = z.strictObject({
  job_type: name,
  /** The name of the workflow that it becomes, where `job_type` is already one's name. */
  workflow_id: name.optional(),
  name: z.string().max(255).optional(),
  version: z.union([z.string().min(1).max(64), z.number()]).optional(),
  description: z.string().max(4096).optional(),
  total_stages: z.number().int().min(1).optional(),
  parameters_schema: z.record(z.string(), z.unknown()).optional(),
  stages: z.array(z.unknown()).min(1).max(100),
  /** The job's result; without it, the results of the last stage. */
  result: mapping.optional(),
});

/** What an author writes, as an object of TypeScript. */
export type JobDeclaration = Omit<z.input<typeof declaration>, "stages" | "parameters_schema"> & {
  readonly parameters_schema?: Readonly<Record<string, z.input<typeof parameter>>>;
  readonly stages: readonly z.input<typeof stage>[];
};

export function isDeclaration(tree: unknown): boolean {
  return (
    typeof tree === "object" &&
    tree !== null &&
    Object.hasOwn(tree, "stages") &&
    !Object.hasOwn(tree, "nodes")
  );
}
