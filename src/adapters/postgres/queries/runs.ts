import type { JobStatus } from "../../../core/model/job.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import type { Queryable } from "../queryable.ts";
import { iso, isoOrNull } from "./conditions.ts";

interface RunRow {
  readonly job_id: string;
  readonly workflow_hash: string;
  readonly status: JobStatus;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly nodes: { node_id: string; status: NodeStatus; seconds: number | null }[];
}

/**
 * The newest jobs of a workflow with their static nodes. A node's time is that of its last attempt;
 * what the orchestrator settles itself takes none.
 */
export async function readRuns(db: Queryable, workflowId: string, limit: number) {
  const { rows } = await db.query<RunRow>(
    `SELECT j.job_id, j.workflow_hash, j.status, j.created_at, j.started_at, j.completed_at, n.nodes
     FROM (SELECT * FROM dagapp.dag_jobs WHERE workflow_id = $1
           ORDER BY created_at DESC, job_id DESC LIMIT $2) j
     CROSS JOIN LATERAL (
       SELECT coalesce(jsonb_agg(jsonb_build_object(
                'node_id', node_id, 'status', status,
                'seconds', extract(epoch FROM completed_at
                             - coalesce(started_at, dispatched_at))::float8)), '[]') AS nodes
       FROM dagapp.dag_node_states WHERE job_id = j.job_id AND parent_node_id IS NULL) n
     ORDER BY j.created_at DESC, j.job_id DESC`,
    [workflowId, limit],
  );
  return rows.map((row) => ({
    ...row,
    created_at: iso(row.created_at),
    started_at: isoOrNull(row.started_at),
    completed_at: isoOrNull(row.completed_at),
  }));
}
