import type { Database } from "../../adapters/postgres/database.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { JobWithoutNodes } from "../../adapters/postgres/queries/jobs.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import { readNodeRows } from "../../adapters/postgres/queries/job-nodes.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import type { NodeRow } from "../../adapters/postgres/queries/node-rows.ts";
import { findNode } from "../../adapters/postgres/queries/nodes.ts";
import { findArchives, withArchivedRows } from "../../adapters/postgres/queries/retention.ts";
import type { ArchivedRow } from "../../adapters/postgres/queries/old-rows.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { isImplicit } from "../../core/dag/implicit-nodes.ts";
import { Problem } from "../../core/errors.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JobClass } from "../../core/retention/classes.ts";
import { readArchivedRows } from "../retention/archive-rows.ts";

export async function requireJob(db: Queryable, jobId: string): Promise<JobWithoutNodes> {
  const job = await findJob(db, jobId);
  if (job === undefined) throw new Problem("JOB_NOT_FOUND", `There is no job "${jobId}".`);
  return job;
}

export interface OpenedJob {
  readonly job: JobWithoutNodes;
  /** Where the rows of the job are read: the database, or an archive in its form. */
  readonly db: Queryable;
  /** Undefined: the job is in the database. */
  readonly archivedAt: string | undefined;
}

interface Wanted {
  /** Rows that may have been archived before their job. */
  readonly history?: Exclude<JobClass, "jobs">;
  /** The children of this fan-out too. Without it only static nodes are read from an archive. */
  readonly children?: string;
}

/** A job in the database, or in the archive that retention has made of it. */
export async function openJob(
  { db, storage }: { readonly db: Database; readonly storage: Storage },
  jobId: string,
  { history, children = "" }: Wanted = {},
): Promise<OpenedJob> {
  const live = await findJob(db, jobId);
  const isLive = live !== undefined;
  if (isLive && (history === undefined || !isFinished(live.status))) {
    return { job: live, db, archivedAt: undefined };
  }
  const all = await findArchives(db, jobId);
  const files = all.filter((file) => file.class === history || (!isLive && file.class === "jobs"));
  const isWanted = (row: ArchivedRow) =>
    (row.parent === "" || row.parent === children) &&
    (history !== undefined || row.table_name === "dag_jobs" || row.table_name === nodeTable);
  const rows = await readArchivedRows(storage, files, jobId, isWanted);
  if (isLive) {
    return {
      job: live,
      db: rows.size === 0 ? db : withArchivedRows(db, rows),
      archivedAt: undefined,
    };
  }
  if (!rows.has("dag_jobs")) throw new Problem("JOB_NOT_FOUND", `There is no job "${jobId}".`);
  for (const table of jobTables) if (!rows.has(table)) rows.set(table, []);
  const archived = withArchivedRows(db, rows);
  return {
    job: await requireJob(archived, jobId),
    db: archived,
    archivedAt: all.findLast((file) => file.class === "jobs")?.created_at.toISOString(),
  };
}

const nodeTable = "dag_node_states";
const jobTables = [
  "dag_job_events",
  "dag_task_logs",
  "dag_task_results",
  "dag_task_metrics",
  "dag_checkpoints",
  nodeTable,
];

export async function requireNode(
  { db, graphs }: { readonly db: Queryable; readonly graphs: GraphCache },
  job: JobWithoutNodes,
  nodeId: string,
): Promise<NodeRow> {
  const node = isImplicit(nodeId)
    ? (await readNodeRows(db, job, await graphs.graphOf(job.workflow_hash))).find(
        (row) => row.node_id === nodeId,
      )
    : await findNode(db, job.job_id, nodeId);
  if (node === undefined) {
    throw new Problem("NODE_NOT_FOUND", `Job "${job.job_id}" has no node "${nodeId}".`);
  }
  return node;
}
