import type { WorkflowDefinition } from "../../../core/model/workflow.ts";
import type { Queryable } from "../queryable.ts";
import { iso, isoOrNull } from "./conditions.ts";
import type { JobStatus } from "../../../core/model/job.ts";
import type { NodeStatus } from "../../../core/model/node.ts";
import { isStored } from "./node-rows.ts";

export interface StoredWorkflow {
  readonly workflow_id: string;
  readonly workflow_hash: string;
  readonly version: string;
  readonly is_active: boolean;
  readonly definition: WorkflowDefinition;
  readonly source: string | null;
  readonly updated_at: string;
}

type Row = Omit<StoredWorkflow, "updated_at"> & { readonly updated_at: Date };

const select = `
  SELECT w.workflow_id, w.workflow_hash, v.version, w.is_active, v.definition, v.source, w.updated_at
  FROM dagapp.dag_workflows w JOIN dagapp.dag_workflow_versions v USING (workflow_hash)`;

export async function listWorkflows(db: Queryable): Promise<StoredWorkflow[]> {
  const { rows } = await db.query<Row>(`${select} ORDER BY w.workflow_id`);
  return rows.map((row) => ({ ...row, updated_at: iso(row.updated_at) }));
}

export async function findWorkflow(
  db: Queryable,
  workflowId: string,
): Promise<StoredWorkflow | undefined> {
  const { rows } = await db.query<Row>(`${select} WHERE w.workflow_id = $1`, [workflowId]);
  const row = rows[0];
  return row && { ...row, updated_at: iso(row.updated_at) };
}

export interface StoredVersion {
  readonly workflow_hash: string;
  readonly version: string;
  readonly is_current: boolean;
  readonly created_at: string;
}

/** The newest first. */
export async function listVersions(db: Queryable, workflowId: string): Promise<StoredVersion[]> {
  const { rows } = await db.query<Omit<StoredVersion, "created_at"> & { created_at: Date }>(
    `SELECT v.workflow_hash, v.version, v.created_at, w.workflow_hash IS NOT NULL AS is_current
     FROM dagapp.dag_workflow_versions v LEFT JOIN dagapp.dag_workflows w USING (workflow_hash)
     WHERE v.workflow_id = $1 ORDER BY v.created_at DESC, v.workflow_hash`,
    [workflowId],
  );
  return rows.map((row) => ({ ...row, created_at: iso(row.created_at) }));
}

export async function findVersion(
  db: Queryable,
  workflowId: string,
  hash: string,
): Promise<
  (StoredVersion & { definition: WorkflowDefinition; source: string | null }) | undefined
> {
  const { rows } = await db.query<
    Omit<StoredVersion, "created_at"> & {
      created_at: Date;
      definition: WorkflowDefinition;
      source: string | null;
    }
  >(
    `SELECT v.workflow_hash, v.version, v.created_at, v.definition, v.source,
            w.workflow_hash IS NOT NULL AS is_current
     FROM dagapp.dag_workflow_versions v LEFT JOIN dagapp.dag_workflows w USING (workflow_hash)
     WHERE v.workflow_id = $1 AND v.workflow_hash = $2`,
    [workflowId, hash],
  );
  const row = rows[0];
  return row && { ...row, created_at: iso(row.created_at) };
}

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
 * Reads the newest jobs of a workflow with their static nodes. The duration of a node is that of
 * its last attempt; nodes that the orchestrator settles itself have none.
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
       FROM dagapp.dag_node_states
       WHERE job_id = j.job_id AND parent_node_id IS NULL AND ${isStored("node_id")}) n
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
