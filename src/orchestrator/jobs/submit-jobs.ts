import { randomUUID } from "node:crypto";
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
import { adoptRerun } from "../../adapters/postgres/repositories/asset-jobs.ts";
import { copyChildren } from "../../adapters/postgres/repositories/copy-children.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import type { Graph, GraphNode } from "../../core/dag/compile/graph.ts";
import { checkInputs } from "../../core/dag/check-inputs.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isSettled, taskId } from "../../core/model/node.ts";
import type { EngineDeps } from "../engine/deps.ts";
import type { JobState } from "../engine/job-state.ts";
import { nextEvent } from "../engine/record-events.ts";
import { settleJob } from "../engine/settle-job.ts";
import { WriteBatch } from "../engine/write-batch.ts";
import { Handing } from "../links/handing.ts";
import type { CurrentWorkflow } from "../workflows/registry.ts";
import type { SubmitAnswer, SubmitRequest } from "./verbs.ts";

/** A job that is ready to be written: its inputs are checked, its version is fixed. */
export interface PreparedJob {
  readonly job: NewJob;
  readonly graph: Graph;
  readonly inherited?: Inheritance;
}

/** What an earlier job already did. */
export interface Inheritance {
  readonly from: string;
  readonly nodes: ReadonlyMap<string, NodeFact>;
  /** Fan-outs whose children come along. */
  readonly fanOuts: readonly string[];
}

/** All findings at once, and nothing is created while there is one. */
export async function prepareJob(
  deps: Pick<EngineDeps, "workflows" | "ownerId">,
  request: SubmitRequest,
): Promise<PreparedJob> {
  const workflow = await deps.workflows.current(request.workflow_id);
  const inputs = checkedInputs(workflow, request.inputs);
  const job: NewJob = {
    job_id: newJobId(),
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
    nodes_total: workflow.graph.nodes.length,
  };
  return { job, graph: workflow.graph };
}

export function newJobId(): string {
  return randomUUID().replaceAll("-", "");
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
  deps: EngineDeps,
  prepared: readonly PreparedJob[],
): Promise<readonly (SubmitAnswer | Problem)[]> {
  const handing = new Handing(deps.links);
  try {
    const { answers, states } = await deps.db.transaction(async (tx) => {
      handing.undo();
      reach("submit.before_write");
      const created = await createJobs(deps, tx, prepared, handing);
      reach("submit.before_commit");
      return created;
    });
    reach("submit.after_commit");
    keepStates(deps, states);
    await handing.leave();
    return answers;
  } catch (error) {
    handing.undo();
    throw error;
  }
}

/** Once the transaction that created them is committed. */
export function keepStates(deps: Pick<EngineDeps, "cache">, states: readonly JobState[]): void {
  for (const state of states) if (!isFinished(state.status)) deps.cache.keep(state);
}

/**
 * Within somebody's transaction. The evaluation comes first: it needs nothing of the database, so
 * each row is written once, as it is after it, and all statements can leave together.
 */
export async function createJobs(
  deps: EngineDeps,
  tx: Transaction,
  prepared: readonly PreparedJob[],
  handing?: Handing,
): Promise<{ answers: readonly (SubmitAnswer | Problem)[]; states: readonly JobState[] }> {
  const begun: Begun[] = [];
  for (const one of firstOfEachKey(prepared)) begun.push(await begin(deps, tx, one));
  const inserted = await insertJobs(
    tx,
    begun.map(({ first }) => first),
  );
  reach("submit.jobs_inserted");
  const created = begun.filter(({ first }) => inserted.has(first.job_id));
  const batch = new WriteBatch();
  for (const one of created) batch.add(one.batch);
  await batch.write(tx, deps.broker, { handing });
  const earlier = await findEarlier(tx, prepared, inserted);
  const states = created.map(({ state }) => state);
  const byId = new Map(states.map((state) => [state.row.job_id, state]));
  return { answers: prepared.map((one) => answer(one, byId, earlier)), states };
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
  /** All but the job's own row. */
  readonly batch: WriteBatch;
}

async function begin(
  deps: EngineDeps,
  tx: Transaction,
  { job, graph, inherited }: PreparedJob,
): Promise<Begun> {
  const batch = new WriteBatch();
  const nodes = new Map<string, NodeFact>();
  for (const { id } of graph.nodes) {
    const fact = inherited?.nodes.get(id) ?? untouched(id);
    const output = fact.output && (await deps.outputs.resolve(fact.output));
    nodes.set(id, { ...fact, output });
  }
  const settled = [...nodes.values()].filter((fact) => isSettled(fact.status)).length;
  const state: JobState = {
    row: newRow(job),
    graph,
    nodes,
    status: "pending",
    unsettled: nodes.size - settled,
    eventSeq: 0,
  };
  const data = {
    workflow_id: job.workflow_id,
    workflow_hash: job.workflow_hash,
    ...(job.rerun_of === null ? {} : { rerun_of: job.rerun_of }),
    ...(inherited === undefined ? {} : { inherited: [...inherited.nodes.keys()] }),
  };
  batch.events.push(nextEvent(state, { type: "job_created", data }));
  const occasion = {
    now: deps.clock.now().getTime(),
    reports: [],
    changed: undefined,
    notes: new Map(),
    isNew: true,
  };
  if (inherited !== undefined) {
    if (job.correlation_id !== null) adoptRerun(tx, inherited.from, job.job_id);
    await copyChildren(tx, inherited.from, job.job_id, inherited.fanOuts);
  }
  await settleJob(deps, tx, state, occasion, batch);
  for (const node of graph.nodes) {
    const fact = nodes.get(node.id) ?? untouched(node.id);
    // What was inherited keeps the output as it is stored, which may be a reference.
    const output = inherited?.nodes.get(node.id)?.output ?? fact.output;
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
    attention: false,
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
): SubmitAnswer | Problem {
  const state = states.get(job.job_id);
  if (state !== undefined) {
    const { job_id, workflow_id, workflow_version } = job;
    return { job_id, workflow_id, workflow_version, status: state.status, created: true };
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
