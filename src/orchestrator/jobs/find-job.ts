import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { JobWithoutNodes } from "../../adapters/postgres/queries/jobs.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import type { NodeRow } from "../../adapters/postgres/queries/node-rows.ts";
import { findNode } from "../../adapters/postgres/queries/nodes.ts";
import { Problem } from "../../core/errors.ts";

export async function requireJob(db: Queryable, jobId: string): Promise<JobWithoutNodes> {
  const job = await findJob(db, jobId);
  if (job === undefined) throw new Problem("JOB_NOT_FOUND", `There is no job "${jobId}".`);
  return job;
}

export async function requireNode(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<{ job: JobWithoutNodes; node: NodeRow }> {
  const job = await requireJob(db, jobId);
  const node = await findNode(db, jobId, nodeId);
  if (node === undefined) {
    throw new Problem("NODE_NOT_FOUND", `Job "${jobId}" has no node "${nodeId}".`);
  }
  return { job, node };
}
