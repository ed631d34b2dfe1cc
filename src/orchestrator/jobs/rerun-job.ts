import type { JobRow } from "../../adapters/postgres/repositories/jobs.ts";
import { loadStaticNodes } from "../../adapters/postgres/repositories/nodes.ts";
import { newJobId } from "../../adapters/runtime/new-job-id.ts";
import type { NodeFact } from "../../core/dag/evaluate/facts.ts";
import type { Graph } from "../../core/dag/graph.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { dots } from "../../core/model/mask.ts";
import type { JobDeps } from "./deps.ts";
import { graphOfJob } from "../engine/deps.ts";
import { inherit, inheritForNewer, withDescendants } from "./inherit-nodes.ts";
import type { RerunRequest, RetryRequest, SubmitAnswer } from "./verbs.ts";
import { lockExistingJob } from "./request-change.ts";
import { checkedInputs, submitJobs } from "./submit-jobs.ts";

/*
 * Terminal states never change, so retry and rerun create a new job that inherits the finished nodes
 * of the first: same correlation id, and `rerun_of` holds the id of the first. The new job has the
 * definition of the first one, or with `latest` the newest one of the workflow.
 */

/** The new job inherits every node that succeeded, children of a failed fan-out included. */
export function retryJob(
  deps: JobDeps,
  jobId: string,
  { latest, trace_parent }: RetryRequest = {},
): Promise<SubmitAnswer> {
  return submitAgain(deps, jobId, { latest, trace_parent }, (_, row) => {
    if (row.status === "completed") {
      throw new Problem("NOTHING_TO_RETRY", `job "${jobId}" completed: rerun it from a node`);
    }
    return new Set();
  });
}

/** The new job runs `from_node` and all its descendants again. */
export function rerunJob(
  deps: JobDeps,
  jobId: string,
  { from_node, inputs, latest, trace_parent }: RerunRequest,
): Promise<SubmitAnswer> {
  return submitAgain(deps, jobId, { inputs, latest, trace_parent }, (graph) => {
    const start = graph.byId.get(from_node);
    if (start === undefined) {
      const known = graph.nodes.map((node) => node.id).join(", ");
      throw new Problem("NODE_NOT_FOUND", `there is no node "${from_node}"; there are: ${known}`);
    }
    return withDescendants(start);
  });
}

interface Changes {
  readonly inputs?: JsonObject | undefined;
  readonly latest?: boolean | undefined;
  readonly trace_parent?: string | undefined;
}

/** `again` answers the nodes that run again, although they may have succeeded. */
async function submitAgain(
  deps: JobDeps,
  jobId: string,
  changes: Changes,
  again: (graph: Graph, row: JobRow) => ReadonlySet<string>,
): Promise<SubmitAnswer> {
  const { row, facts } = await deps.db.transaction(async (tx) => {
    const locked = await lockExistingJob(tx, jobId);
    const nodes = await loadStaticNodes(tx, [jobId]);
    return {
      row: locked,
      facts: new Map(nodes.map(({ job_id: _, ...fact }) => [fact.node_id, fact])),
    };
  });
  if (!isFinished(row.status)) {
    throw new Problem("JOB_NOT_FINISHED", `job "${jobId}" is ${row.status}: cancel it first`);
  }
  const { workflow, inherited } = await chooseWorkflow(deps, row, facts, changes, again);
  const { graph } = workflow;
  const [answer] = await submitJobs(deps, [
    {
      job: {
        job_id: newJobId(),
        workflow_id: row.workflow_id,
        workflow_hash: workflow.hash,
        workflow_version: graph.definition.version,
        priority: row.priority,
        input_params: checkedInputs(graph, givenInputs(graph, row, changes)),
        owner_id: deps.ownerId,
        correlation_id: row.correlation_id,
        idempotency_key: null,
        submitted_by: row.submitted_by,
        callback_url: row.callback_url,
        rerun_of: jobId,
        trace_parent: deps.traces?.stored(changes.trace_parent) ?? null,
        nodes_total: graph.nodes.length,
      },
      graph,
      inherited: { from: jobId, ...inherited },
    },
  ]);
  if (answer === undefined || answer instanceof Problem) {
    throw answer ?? new Problem("INTERNAL", "the job could not be created");
  }
  return answer;
}

async function chooseWorkflow(
  deps: JobDeps,
  row: JobRow,
  facts: ReadonlyMap<string, NodeFact>,
  { latest }: Changes,
  again: (graph: Graph, row: JobRow) => ReadonlySet<string>,
) {
  const pinned = await graphOfJob(deps, row.workflow_hash);
  const newest = latest === true ? await deps.workflows.newest(row.workflow_id) : undefined;
  if (newest === undefined || newest.hash === row.workflow_hash) {
    const workflow = { hash: row.workflow_hash, graph: pinned };
    return { workflow, inherited: inherit(pinned, facts, again(pinned, row)) };
  }
  const inherited = inheritForNewer(pinned, newest.graph, facts, again(newest.graph, row));
  return { workflow: newest, inherited };
}

/**
 * Inputs of the first job that a newer version no longer declares are left out: no node reads them.
 * Dots in place of a secret leave it as it was.
 */
function givenInputs(graph: Graph, row: JobRow, { inputs, latest }: Changes): JsonObject {
  const declared = graph.definition.inputs;
  const kept = Object.entries(row.input_params).filter(
    ([name]) => latest !== true || declared === undefined || Object.hasOwn(declared, name),
  );
  const isUnchanged = (name: string, value: Json) =>
    value === dots && declared?.[name]?.secret === true;
  const given = Object.entries(inputs ?? {}).filter(([name, value]) => !isUnchanged(name, value));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(given) };
}
