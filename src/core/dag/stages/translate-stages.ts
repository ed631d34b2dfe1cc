import type { Json, JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Parallelism, StageJob } from "../../model/stage-job.ts";
import { nodeName } from "../../model/workflow.ts";
import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";
import { schemaFindings } from "../source/schema-findings.ts";
import type { Stage } from "./declaration.ts";
import { declaration, parameter, stage as stageSchema } from "./declaration.ts";
import type { StageScope } from "./stage-templates.ts";
import { rewriteText, toWorkflowNames } from "./stage-templates.ts";

export interface Translated {
  readonly findings: readonly Finding[];
  /** Undefined, like the stages, if the declaration cannot be read. */
  readonly workflow: JsonObject | undefined;
  readonly stages: StageJob | undefined;
  /** The place in the declaration that a place in the workflow was made of. */
  readonly placeOf: (path: TreePath) => TreePath;
}

/**
 * Translates a job of stages to the workflow that runs it: for each stage a fan-out of its tasks and
 * a fan-in of their results, one after the other.
 */
export function translateStages(tree: JsonObject): Translated {
  const findings: Finding[] = [];
  const head = declaration.safeParse(tree);
  if (!head.success) findings.push(...schemaFindings(declaration, tree, head.error.issues, []));
  const stages = readStages(tree["stages"], findings);
  const inputs = readParameters(tree["parameters_schema"], findings);
  if (head.success && head.data.total_stages !== undefined) {
    const { total_stages } = head.data;
    if (total_stages !== stages.length) {
      const message = `total_stages is ${total_stages}, and there are ${stages.length} stages`;
      findings.push(errorAt("WRONG_VALUE", ["total_stages"], message));
    }
  }
  if (!head.success || findings.length > 0) {
    return { findings, workflow: undefined, stages: undefined, placeOf: (path) => path };
  }
  const named = nameStages(stages);
  const results = new Map(named.map((each) => [each.number, each.results_node]));
  const nodes: Record<string, Json> = {};
  for (const [index, each] of named.entries()) {
    const { source } = each;
    const before = named[index - 1];
    const read = source.depends_on_stage ?? before?.number;
    const previous = read === undefined ? undefined : results.get(read);
    const scope: StageScope = { stage: each.number, previous, results };
    nodes[each.tasks_node] = { ...tasksNode(source, scope), next: each.results_node };
    const next = named[index + 1]?.tasks_node;
    nodes[each.results_node] = {
      type: "fan_in",
      aggregation: "stage",
      ...(next === undefined ? {} : { next }),
    };
  }
  const last = named.at(-1)?.results_node ?? "";
  const outside: StageScope = { stage: named.length, previous: last, results };
  const { job_type, workflow_id = job_type, name = job_type, description, version } = head.data;
  const workflow: Record<string, Json> = {
    workflow_id,
    name,
    nodes,
    outputs:
      head.data.result === undefined
        ? {
            results: `{{ nodes[${JSON.stringify(last)}].output.results }}`,
            task_count: `{{ nodes[${JSON.stringify(last)}].output.count }}`,
          }
        : toWorkflowNames(head.data.result, outside),
  };
  if (description !== undefined) workflow["description"] = description;
  if (version !== undefined) workflow["version"] = version;
  if (inputs !== undefined) workflow["inputs"] = inputs;
  return {
    findings,
    workflow,
    stages: { job_type, stages: named.map(({ source: _, ...each }) => each) },
    placeOf: (path) => placeInDeclaration(path, named),
  };
}

function readStages(raw: unknown, findings: Finding[]): Stage[] {
  if (!Array.isArray(raw)) return [];
  const stages: Stage[] = [];
  for (const [index, each] of raw.entries()) {
    const path = ["stages", index];
    const parsed = stageSchema.safeParse(each);
    if (!parsed.success) {
      findings.push(...schemaFindings(stageSchema, each, parsed.error.issues, path));
      continue;
    }
    const { number, stage_number, depends_on_stage } = parsed.data;
    const given = number ?? stage_number;
    if (given !== undefined && given !== index + 1) {
      const key = number === undefined ? "stage_number" : "number";
      const message = `stages stand in their order: this is stage ${index + 1}, not ${given}`;
      findings.push(errorAt("WRONG_VALUE", [...path, key], message));
    }
    if (depends_on_stage != null && depends_on_stage > index) {
      const message = `stage ${index + 1} can depend on an earlier stage only`;
      findings.push(errorAt("WRONG_VALUE", [...path, "depends_on_stage"], message));
    }
    checkRule(parsed.data, index, path, findings);
    stages.push(parsed.data);
  }
  return stages;
}

/** Checks that the tasks of a stage follow from what its parallelism allows. */
function checkRule(
  { parallelism, count, tasks }: Stage,
  index: number,
  path: TreePath,
  findings: Finding[],
): void {
  const fail = (key: string, message: string) =>
    findings.push(errorAt("WRONG_VALUE", [...path, key], message));
  if (count !== undefined && tasks !== undefined)
    fail("count", "needs `count` or `tasks`, not both");
  const needsPrevious = parallelism === "match_previous" || parallelism === "fan_in";
  if (needsPrevious && index === 0) fail("parallelism", `there is no stage before the first one`);
  if (needsPrevious && (count ?? tasks) !== undefined) {
    const key = count === undefined ? "tasks" : "count";
    fail(key, `${parallelism} makes its tasks of the stage before it`);
  }
  if ((parallelism === "fan_out" || parallelism === "dynamic") && tasks === undefined) {
    const example = '"{{ previous_results[0].result.files }}"';
    findings.push(
      errorAt("MISSING_KEY", path, `"tasks" is missing: the list to fan out, such as ${example}`),
    );
  }
}

type NamedStage = StageJob["stages"][number] & { readonly source: Stage };

function nameStages(stages: readonly Stage[]): NamedStage[] {
  const taken = new Set<string>();
  return stages.map((source, index) => {
    const number = index + 1;
    const name = source.name ?? source.stage_name ?? source.task_type;
    const free = [name, `stage_${number}`].find((each) => isFree(each, taken));
    const tasks_node = free ?? `stage_${number}`;
    const results_node = `${tasks_node}_results`;
    taken.add(tasks_node).add(results_node);
    const { task_type, task_index } = source;
    const parallelism = shownParallelism(source);
    const common = { number, name, task_type, parallelism, tasks_node, results_node, source };
    return task_index === undefined ? common : { ...common, task_index };
  });
}

/** The older platform calls a stage "single" whose tasks are counted before it runs, however many. */
function shownParallelism({ parallelism, count, tasks }: Stage): Parallelism {
  const isCounted = parallelism === "single" && (count ?? tasks) !== undefined;
  return isCounted ? "fixed" : parallelism;
}

function isFree(name: string, taken: ReadonlySet<string>): boolean {
  const results = `${name}_results`;
  if (!nodeName.safeParse(results).success || /^(?:start|end)$/i.test(name)) return false;
  return !taken.has(name) && !taken.has(results);
}

const onlyOne: readonly Json[] = [0];

function tasksNode(source: Stage, scope: StageScope): JsonObject {
  const { parallelism, count, tasks, description, queue, retry, timeout_minutes } = source;
  const task: Record<string, Json> = { handler: source.task_type, params: paramsOf(source, scope) };
  if (queue !== undefined) task["queue"] = queue;
  if (retry !== undefined) task["retry"] = retry;
  if (timeout_minutes !== undefined) task["timeout_seconds"] = Math.ceil(timeout_minutes * 60);
  const node: Record<string, Json> = { type: "fan_out", source: itemsOf(), task };
  if (description !== undefined) node["description"] = description;
  if (source.max_parallel_tasks !== undefined) node["max_concurrency"] = source.max_parallel_tasks;
  return node;

  function itemsOf(): Json {
    if (parallelism === "match_previous") return toWorkflowNames("{{ previous_results }}", scope);
    if (tasks !== undefined) return toWorkflowNames(tasks, scope);
    if (typeof count === "number") return Array.from({ length: count }, (_, index) => index);
    if (count === undefined) return onlyOne;
    return rewriteText(count, scope).replace(/\s*\}\}\s*$/, " | range }}");
  }
}

/**
 * The parameters of a stage's tasks. A fan-in gets the results of the stage before it, and a task
 * that matches one gets what that task handed on, unless the author says otherwise.
 */
function paramsOf({ parallelism, parameters }: Stage, scope: StageScope): Json {
  const written = parameters as Json | undefined;
  if (parallelism === "fan_in" && (written === undefined || isJsonObject(written))) {
    const own = { previous_results: "{{ previous_results }}", ...written };
    return toWorkflowNames(own, scope);
  }
  if (written !== undefined) return toWorkflowNames(written, scope);
  return parallelism === "match_previous" ? "{{ item.next_stage_params | default({}) }}" : {};
}

const inputTypes: Readonly<Record<string, string>> = {
  str: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
  list: "array",
  dict: "object",
};

function readParameters(raw: unknown, findings: Finding[]): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined;
  const inputs: [string, Json][] = [];
  for (const [name, given] of Object.entries(raw)) {
    const path = ["parameters_schema", name];
    const parsed = parameter.safeParse(given ?? {});
    if (!parsed.success) {
      findings.push(...schemaFindings(parameter, given, parsed.error.issues, path));
      continue;
    }
    const { type, min, max, choices, ...rest } = parsed.data;
    const input = {
      ...rest,
      type: inputTypes[type] ?? type,
      minimum: rest.minimum ?? min,
      maximum: rest.maximum ?? max,
      enum: rest.enum ?? choices,
    };
    const kept = Object.entries(input).filter(([, value]) => value !== undefined);
    inputs.push([name, Object.fromEntries(kept) as JsonObject]);
  }
  return Object.fromEntries(inputs);
}

function placeInDeclaration(path: TreePath, stages: readonly NamedStage[]): TreePath {
  const [root, name, ...rest] = path;
  if (root === "inputs") return ["parameters_schema", ...path.slice(1)];
  if (root === "outputs") return ["result", ...path.slice(1)];
  if (root !== "nodes") return path;
  const index = stages.findIndex(
    ({ tasks_node, results_node }) => tasks_node === name || results_node === name,
  );
  const stage = stages[index];
  if (stage === undefined) return ["stages"];
  const base = ["stages", index];
  const [first, second, ...others] = rest;
  if (first === "source") return [...base, stage.source.count === undefined ? "tasks" : "count"];
  if (first === "max_concurrency") return [...base, "max_parallel_tasks"];
  if (first !== "task") return base;
  if (second === "handler") return [...base, "task_type"];
  if (second === "params" && stage.source.parameters !== undefined) {
    return [...base, "parameters", ...others];
  }
  return second === "queue" || second === "retry" ? [...base, second, ...others] : base;
}
