import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { makeRetryDue } from "../../adapters/postgres/repositories/nodes.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import { parentOfChild } from "../../core/model/node.ts";
import type { JobDeps } from "./deps.ts";
import { requireJob, requireNode } from "./find-job.ts";
import { lockExistingJob, requestChange } from "./request-change.ts";
import { rerunJob } from "./rerun-job.ts";
import type { RetryRequest, SubmitAnswer } from "./verbs.ts";

/**
 * Runs one node again. In a job that runs, a node that waits for its next attempt starts it at once.
 * A finished job does not change: a new job keeps what succeeded and runs from the node on.
 */
export async function retryNode(
  deps: JobDeps,
  jobId: string,
  nodeId: string,
  { trace_parent }: Pick<RetryRequest, "trace_parent"> = {},
): Promise<SubmitAnswer> {
  const job = await requireJob(deps.db, jobId);
  const node = await requireNode(deps, job, nodeId);
  const fromNode = parentOfChild(nodeId)?.node_id ?? nodeId;
  if (isFinished(job.status)) return rerunJob(deps, jobId, { from_node: fromNode, trace_parent });
  return deps.db.transaction(async (tx) => {
    const row = await lockExistingJob(tx, jobId);
    await makeDue(tx, jobId, nodeId, node.status);
    const data = { requested: true };
    await requestChange(tx, row, "node_ready", {}, data, nodeId);
    const { workflow_id, workflow_version, status } = row;
    return { job_id: jobId, workflow_id, workflow_version, status, created: false };
  });
}

async function makeDue(
  tx: Transaction,
  jobId: string,
  nodeId: string,
  status: string,
): Promise<void> {
  if (await makeRetryDue(tx, jobId, nodeId)) return;
  const remedy =
    status === "failed"
      ? "the job still runs; retry the job once it has ended, or cancel it first"
      : "only a node that waits for its next attempt can be started early";
  throw new Problem("TRANSITION_REFUSED", `Node "${nodeId}" is ${status}: ${remedy}.`);
}
