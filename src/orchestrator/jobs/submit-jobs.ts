import { isDeepStrictEqual } from "node:util";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type {
  FirstState,
  JobRow,
  NewJob,
  SubmittedJob,
} from "../../adapters/postgres/repositories/jobs.ts";
import { findByIdempotencyKeys, insertJobs } from "../../adapters/postgres/repositories/jobs.ts";
import type { NewNode } from "../../adapters/postgres/repositories/nodes.ts";
import { replaceByRerun } from "../../adapters/postgres/repositories/asset-jobs.ts";
import type { KeptFanOut } from "../../adapters/postgres/repositories/children.ts";
import { copyChildren } from "../../adapters/postgres/repositories/children.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { newJobId } from "../../adapters/runtime/new-job-id.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import type { Graph, GraphNode } from "../../core/dag/graph.ts";
import { checkInputs } from "../../core/dag/check-inputs.ts";
import { countUnsettled, isImplicit } from "../../core/dag/implicit-nodes.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { taskId } from "../../core/model/node.ts";
import { isReference } from "../../core/model/value-reference.ts";
import type { JobDeps } from "./deps.ts";
import type { JobState } from "../engine/job-state.ts";
import { nextEvent } from "../engine/record-events.ts";
import type { Trigger } from "../engine/settle-job.ts";
import { settleJob } from "../engine/settle-job.ts";
import { WriteBatch } from "../engine/write-batch.ts";
import type { CurrentWorkflow } from "../workflows/registry.ts";
import type { SubmitAnswer, SubmitRequest } from "./verbs.ts";

/** A job to create: its inputs are checked and its workflow version is fixed. */
export interface PreparedJob {
  readonly job: NewJob;
  readonly graph: Graph;
  readonly inherited?: Inheritance;
}

/** The nodes that a retry or rerun keeps of an earlier job. */
export interface Inheritance {
  readonly from: string;
  readonly nodes: ReadonlyMap<string, NodeFact>;
  /** Fan-outs whose children come along. */
  readonly fanOuts: readonly KeptFanOut[];
}

/** Fixes the workflow version and checks the inputs; all problems are reported at once. */
export async function prepareJob(
  deps: Pick<JobDeps, "workflows" | "ownerId" | "traces">,
  request: SubmitRequest,
): Promise<PreparedJob> {
  const workflow = await deps.workflows.current(request.workflow_id);
  const inputs = checkedInputs(workflow, request.inputs);
  const job: NewJob = {
    job_id: request.job_id ?? newJobId(),
    workflow_id: workflow.definition.workflow_id,
    workflow_hash: workflow.hash,
    workflow_version: workflow.definition.version,
    priority: request.priority ?? 0,
    input_params: inputs,
    owner_id: deps.ownerId,
    correlation_id: request.correlation_id ?? null,
    idempotency_key: request.idempotency_key ?? null,
    submitted_by: request.submitted_by ?? null,
    callback_url: request.callback_url ?? null,
    rerun_of: null,
    trace_parent: deps.traces?.stored(request.trace_parent) ?? null,
    nodes_total: workflow.graph.nodes.length,
  };
  return { job, graph: workflow.graph };
}

export function checkedInputs(workflow: Pick<CurrentWorkflow, "definition">, given: JsonObject) {
  const checked = checkInputs(workflow.definition, given);
  if (checked.ok) return checked.inputs;
  const detail = `the inputs do not fit workflow "${workflow.definition.workflow_id}"`;
  const items = checked.problems.map((problem) => ({
    ...problem,
    pointer: `/inputs${problem.pointer}`,
  }));
  throw new Problem("INVALID_INPUTS", detail, items);
}

/**
 * Creates jobs and runs their first evaluation in one transaction: when the caller has its answer,
 * the first tasks are queued. A repeated idempotency key answers with the job it named first.
 */
export async function submitJobs(
  deps: JobDeps,
  prepared: readonly PreparedJob[],
): Promise<readonly (SubmitAnswer | Problem)[]> {
  return deps.db.transaction(async (tx) => {
    tx.afterCommit(() => {
      reach("submit.after_commit");
    });
    reach("submit.before_write");
    const answers = await createJobs(deps, tx, prepared);
    reach("submit.before_commit");
    return answers;
  });
}

/**
 * Creates jobs in the caller's transaction. Each job is evaluated before it is written: that needs
 * nothing of the database, so each row is written once, as the evaluation left it, and all
 * statements are sent together.
 */
export async function createJobs(
  deps: JobDeps,
  tx: Transaction,
  prepared: readonly PreparedJob[],
): Promise<readonly (SubmitAnswer | Problem)[]> {
  const begun: Begun[] = [];
  const firsts = new Set(firstOfEachKey(prepared));
  for (const one of firsts) begun.push(await begin(deps, tx, one));
  const inserted = await insertJobs(
    tx,
    begun.map(({ first }) => first),
  );
  reach("submit.jobs_inserted");
  const created = begun.filter(({ first }) => inserted.has(first.job_id));
  deps.traces?.settling(tx, "submit", created);
  const batch = new WriteBatch();
  for (const one of created) batch.merge(one.batch);
  await batch.write(tx, deps);
  const earlier = await findEarlier(tx, prepared, inserted);
  const states = created.map(({ state }) => state);
  tx.afterCommit(() => {
    for (const state of states) if (!isFinished(state.status)) deps.cache.keep(state);
  });
  const byId = new Map(states.map((state) => [state.row.job_id, state]));
  return prepared.map((one) => answer(one, byId, earlier, firsts.has(one)));
}

/** Two requests with one key in one batch must not both reach the insert. */
function firstOfEachKey(prepared: readonly PreparedJob[]): readonly PreparedJob[] {
  const seen = new Set<string>();
  return prepared.filter(({ job: { idempotency_key: key } }) => {
    if (key === null) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

interface Begun {
  readonly first: FirstState;
  readonly state: JobState;
  /** All rows but the job's own. */
  readonly batch: WriteBatch;
}

async function begin(
  deps: JobDeps,
  tx: Transaction,
  { job, graph, inherited }: PreparedJob,
): Promise<Begun> {
  const batch = new WriteBatch();
  const nodes = new Map<string, NodeFact>();
  let largeBytes = 0;
  for (const { id } of graph.nodes) {
    const fact = inherited?.nodes.get(id) ?? untouched(id);
    const output = fact.output && (await deps.outputs.resolve(fact.output));
    nodes.set(id, { ...fact, output });
    if (isReference(fact.output)) largeBytes += fact.output.bytes;
  }
  const state: JobState = {
    row: newRow(job),
    graph,
    nodes,
    status: "pending",
    unsettled: countUnsettled(graph, nodes),
    eventSeq: 0,
    hasReports: false,
    largeBytes,
  };
  const data = {
    workflow_id: job.workflow_id,
    workflow_hash: job.workflow_hash,
    ...(job.rerun_of === null ? {} : { rerun_of: job.rerun_of }),
    ...(inherited === undefined ? {} : { inherited: [...inherited.nodes.keys()] }),
  };
  batch.events.push(nextEvent(state, { type: "job_created", data }));
  const trigger: Trigger = {
    now: deps.clock.now().getTime(),
    reports: [],
    notes: new Map(),
    changed: undefined,
    inboxSeqs: [],
    isNew: true,
  };
  if (inherited !== undefined) {
    if (job.correlation_id !== null) replaceByRerun(tx, inherited.from, job.job_id);
    await copyChildren(tx, inherited.from, job.job_id, inherited.fanOuts);
  }
  await settleJob(deps, async () => tx, state, trigger, batch);
  for (const node of graph.nodes) {
    if (isImplicit(node.id)) continue;
    const fact = nodes.get(node.id) ?? untouched(node.id);
    // A large output stays in storage, and the row gets its reference.
    const output =
      trigger.notes.get(node.id)?.stored ?? inherited?.nodes.get(node.id)?.output ?? fact.output;
    batch.newNodes.push(newNode(job.job_id, node, { ...fact, output }));
  }
  const update = batch.jobUpdates.pop();
  if (update === undefined) throw new Error("a new job always has a state to write");
  return { first: { ...job, ...update }, state, batch };
}

function newNode(jobId: string, node: GraphNode, fact: NodeFact): NewNode {
  const task =
    node.type === "task"
      ? node.definition
      : node.type === "fan_out"
        ? node.definition.task
        : undefined;
  const dispatched = fact.status === "dispatched";
  return {
    job_id: jobId,
    node_type: node.type,
    fact,
    task_id: dispatched ? taskId(jobId, node.id, fact.attempt) : null,
    handler: task?.handler ?? null,
    queue: task?.queue ?? null,
    timeout_seconds: task?.timeout_seconds ?? null,
    max_retries: task?.retry.max_attempts ?? 0,
  };
}

function untouched(nodeId: string): NodeFact {
  return { node_id: nodeId, status: "pending", attempt: 0, retry_count: 0, throttle_count: 0 };
}

function newRow(job: NewJob): JobRow {
  return {
    ...job,
    status: "pending",
    paused: false,
    cancel_reason: null,
    dirty: false,
    nodes_unsettled: job.nodes_total,
    event_seq: 0,
  };
}

async function findEarlier(
  tx: Transaction,
  prepared: readonly PreparedJob[],
  created: ReadonlySet<string>,
): Promise<Map<string, SubmittedJob>> {
  const keys = prepared
    .filter(({ job }) => !created.has(job.job_id))
    .map(({ job }) => job.idempotency_key)
    .filter((key) => key !== null);
  return keys.length === 0 ? new Map() : await findByIdempotencyKeys(tx, keys);
}

function answer(
  { job }: PreparedJob,
  states: ReadonlyMap<string, JobState>,
  earlier: ReadonlyMap<string, SubmittedJob>,
  isFirst: boolean,
): SubmitAnswer | Problem {
  const state = states.get(job.job_id);
  if (state !== undefined) {
    const { job_id, workflow_id, workflow_version } = job;
    // Two requests of one batch may name the same job by its id.
    return { job_id, workflow_id, workflow_version, status: state.status, created: isFirst };
  }
  const first = earlier.get(job.idempotency_key ?? "");
  if (first === undefined) {
    return new Problem("UNAVAILABLE", "the job could not be created; submit it again");
  }
  const { job_id, workflow_id, workflow_version, status } = first;
  const same =
    workflow_id === job.workflow_id && isDeepStrictEqual(first.input_params, job.input_params);
  return same
    ? { job_id, workflow_id, workflow_version, status, created: false }
    : new Problem(
        "IDEMPOTENCY_CONFLICT",
        `the key was used for a job of workflow "${workflow_id}" with other inputs`,
      );
}
