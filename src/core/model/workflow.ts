import { z } from "zod";
import type { Json, JsonObject } from "./json.ts";
import type { StageJob } from "./stage-job.ts";
import { isJsonObject } from "./json.ts";

/*
 * A workflow has two shapes. The source schemas say what an author may write, in every accepted
 * form; `WorkflowDefinition` is the one normalised form that is stored by its content hash and
 * compiled to a graph. `core/dag/lint` checks what needs more than one node (edges, cycles,
 * references). `core/dag/source/check-tree.ts` walks the whole tree first, so that the schemas here
 * may assume that a value is JSON: a recursive schema over 50,000 nodes is slow, and a deep enough
 * tree would overflow the stack.
 */

const jsonObject = z.custom<JsonObject>(isJsonObject, "expected a mapping");
const json = z.custom<Json>((value) => value !== undefined, "expected a value");

const name = z
  .string()
  .min(1)
  .max(64)
  .regex(
    /^[A-Za-z_][A-Za-z0-9_.-]*$/,
    "must start with a letter and hold only letters, digits, _ . -",
  )
  // `split__3` is the fourth child of `split`, so a static node must not have such a name.
  .refine((id) => !/__\d+$/.test(id), "must not end in __ and a number: those are fan-out children")
  .refine((id) => id !== "__proto__", "must not be __proto__");
export const nodeName = name;

const names = z
  .union([name, z.array(name)])
  .transform((value) => (Array.isArray(value) ? value : [value]));

const joins = z
  .strictObject({
    all_of: names.optional(),
    any_of: names.pipe(z.array(z.string()).min(1)).optional(),
  })
  .refine(({ all_of, any_of }) => all_of !== undefined || any_of !== undefined, {
    message: "needs `all_of`, `any_of` or both",
  });

const dependsOn = z.union([names, joins]).transform((value): Dependencies => {
  if (Array.isArray(value)) return { mode: "all_of", nodes: value };
  const { all_of, any_of } = value;
  if (any_of === undefined) return { mode: "all_of", nodes: all_of ?? [] };
  if (all_of === undefined || all_of.length === 0) return { mode: "any_of", nodes: any_of };
  return { mode: "all_of", nodes: all_of, any_of };
});

const seconds = z.number().min(0).max(86_400);
const timeoutSeconds = z
  .number()
  .int()
  .min(1)
  .max(7 * 86_400);

export const backoff = z.enum(["fixed", "linear", "exponential"]);

export const retryPolicy = z.strictObject({
  /** Retries after the first attempt: 5 means six attempts. */
  max_attempts: z.number().int().min(0).max(100).default(3),
  backoff: backoff.default("exponential"),
  initial_delay_seconds: seconds.default(5),
  max_delay_seconds: seconds.default(300),
  jitter: z.boolean().default(true),
});
export type RetryPolicy = z.infer<typeof retryPolicy>;

const wholeTemplate = "must be a mapping, or one template that gives all parameters";

const taskFields = {
  handler: z.string().min(1).max(64),
  queue: z.string().min(1).max(64).optional(),
  /** A mapping, or one template that gives it. */
  params: z
    .union([jsonObject, z.string().regex(/^\s*\{\{[\s\S]*\}\}\s*$/, wholeTemplate)])
    .optional(),
  timeout_seconds: timeoutSeconds.optional(),
  retry: retryPolicy.optional(),
};

const common = {
  name: z.string().max(255).optional(),
  description: z.string().max(4096).optional(),
  depends_on: dependsOn.optional(),
};

const next = names.default([]);

const startNode = z.strictObject({ type: z.literal("start"), ...common, next });
const endNode = z.strictObject({ type: z.literal("end"), ...common });
const taskNode = z.strictObject({ type: z.literal("task"), ...common, ...taskFields, next });

const branch = z
  .strictObject({
    name: z.string().max(255).optional(),
    condition: z.string().min(1).optional(),
    default: z.literal(true).optional(),
    next: names,
  })
  .refine((value) => (value.condition === undefined) !== (value.default === undefined), {
    message: "needs either `condition` or `default: true`",
  });

const conditionalNode = z.strictObject({
  type: z.literal("conditional"),
  ...common,
  condition_field: z.string().min(1).optional(),
  branches: z.array(branch).min(1).optional(),
  condition: z.string().min(1).optional(),
  on_true: names.optional(),
  on_false: names.optional(),
});

const fanOutNode = z.strictObject({
  type: z.literal("fan_out"),
  ...common,
  source: z.union([z.string().min(1), z.array(json)]),
  task: z.strictObject(taskFields),
  max_concurrency: z.number().int().min(1).optional(),
  on_failure: z.enum(["fail_fast", "continue"]).default("fail_fast"),
  next,
});

/** `stage` is that of a job of stages: each output as the `result` of its task. */
export const aggregation = z.enum(["collect", "concat", "sum", "first", "last", "stage"]);
export type Aggregation = z.infer<typeof aggregation>;

const fanInNode = z.strictObject({
  type: z.literal("fan_in"),
  ...common,
  // The aggregate must not depend on which of its sources finished first.
  depends_on: common.depends_on.refine((given) => given?.mode !== "any_of" && !given?.any_of, {
    message: "a fan_in waits for all its sources: any_of is not possible here",
  }),
  aggregation: aggregation.default("collect"),
  /** A member of each output, such as `area` or `stats.area`, that is aggregated instead of it. */
  field: z.string().min(1).max(255).optional(),
  max_failures: z.number().int().min(0).optional(),
  max_failure_percent: z.number().min(0).max(100).optional(),
  min_success: z.number().int().min(0).optional(),
  next,
});

/** Every node type, with the schema of what an author may write for it. */
export const nodeSources = {
  start: startNode,
  end: endNode,
  task: taskNode,
  conditional: conditionalNode,
  fan_out: fanOutNode,
  fan_in: fanInNode,
} as const;
export type NodeSource = z.output<(typeof nodeSources)[keyof typeof nodeSources]>;

export const inputType = z.enum(["string", "integer", "number", "boolean", "array", "object"]);

export const inputDeclaration = z.strictObject({
  type: inputType.default("string"),
  required: z.boolean().default(false),
  default: json.optional(),
  description: z.string().max(4096).optional(),
  enum: z.array(json).min(1).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().max(1024).optional(),
  /** Shown as dots everywhere; handlers get the value. */
  secret: z.boolean().optional(),
});
export type InputDeclaration = z.infer<typeof inputDeclaration>;

/**
 * The head of a workflow. Inputs and nodes are parsed one by one, so that an error in one does not
 * hide the others.
 */
export const workflowHead = z.strictObject({
  workflow_id: name.optional(),
  name: z.string().max(255).optional(),
  description: z.string().max(4096).optional(),
  version: z
    .union([z.string().min(1).max(64), z.number()])
    .transform(String)
    .default("1"),
  nodes: jsonObject,
  outputs: jsonObject.optional(),
});

export interface Dependencies {
  readonly mode: "all_of" | "any_of";
  readonly nodes: readonly string[];
  /** Beside the nodes of mode `all_of`: one of these must complete, and the others are not awaited. */
  readonly any_of?: readonly string[];
}

interface NodeCommon {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly depends_on?: Dependencies | undefined;
}

export interface TaskTemplate {
  readonly handler: string;
  /** The node's own queue, or else its handler's; resolved when the workflow is loaded. */
  readonly queue: string;
  /** A text is one template that gives all parameters. */
  readonly params: JsonObject | string;
  /** Parameters that are shown as dots. */
  readonly secret_params?: readonly string[] | undefined;
  readonly timeout_seconds: number;
  readonly retry: RetryPolicy;
}

export interface StartDefinition extends NodeCommon {
  readonly type: "start";
  readonly next: readonly string[];
}
export interface EndDefinition extends NodeCommon {
  readonly type: "end";
}
export interface TaskDefinition extends NodeCommon, TaskTemplate {
  readonly type: "task";
  readonly next: readonly string[];
}
/**
 * Both written forms are stored in this form. Without `condition_field` each condition is complete.
 */
export interface ConditionalDefinition extends NodeCommon {
  readonly type: "conditional";
  readonly condition_field?: string | undefined;
  readonly branches: readonly {
    readonly name?: string | undefined;
    /** Absent: the default branch. */
    readonly condition?: string | undefined;
    readonly next: readonly string[];
  }[];
}
export interface FanOutDefinition extends NodeCommon {
  readonly type: "fan_out";
  readonly source: string | readonly Json[];
  readonly task: TaskTemplate;
  readonly max_concurrency?: number | undefined;
  readonly on_failure: "fail_fast" | "continue";
  readonly next: readonly string[];
}
export interface FanInDefinition extends NodeCommon {
  readonly type: "fan_in";
  readonly aggregation: Aggregation;
  readonly field?: string | undefined;
  readonly max_failures?: number | undefined;
  readonly max_failure_percent?: number | undefined;
  readonly min_success?: number | undefined;
  readonly next: readonly string[];
}

export type NodeDefinition =
  | StartDefinition
  | EndDefinition
  | TaskDefinition
  | ConditionalDefinition
  | FanOutDefinition
  | FanInDefinition;

/** The task that a node runs, once or for each item. Undefined: the orchestrator settles the node. */
export function taskOf(definition: NodeDefinition): TaskTemplate | undefined {
  switch (definition.type) {
    case "task":
      return definition;
    case "fan_out":
      return definition.task;
    case "start":
    case "end":
    case "conditional":
    case "fan_in":
      return undefined;
  }
}

/**
 * The normalised, immutable form: stored by content hash, and compiled equally by every
 * orchestrator.
 */
export interface WorkflowDefinition {
  readonly workflow_id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly version: string;
  /** Absent: the author declared none, and every input is accepted unchecked. */
  readonly inputs?: Readonly<Record<string, InputDeclaration>> | undefined;
  readonly nodes: Readonly<Record<string, NodeDefinition>>;
  readonly outputs?: JsonObject | undefined;
  /** Present if it was declared as a job of stages. */
  readonly stages?: StageJob | undefined;
}
