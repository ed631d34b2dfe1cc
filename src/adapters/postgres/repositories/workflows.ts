import type { WorkflowDefinition } from "../../../core/model/workflow.ts";
import type { Queryable } from "../queryable.ts";

export interface WorkflowVersion {
  readonly workflow_hash: string;
  readonly definition: WorkflowDefinition;
  readonly source: string | null;
}

/** Stores a version unless it exists, and makes it the current one of its workflow. */
export async function storeWorkflow(db: Queryable, version: WorkflowVersion): Promise<void> {
  const { workflow_hash, definition, source } = version;
  await db.query(
    `WITH stored AS (
       INSERT INTO dagapp.dag_workflow_versions
         (workflow_hash, workflow_id, version, definition, source)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (workflow_hash) DO NOTHING)
     INSERT INTO dagapp.dag_workflows (workflow_id, workflow_hash)
     VALUES ($2, $1)
     ON CONFLICT (workflow_id) DO UPDATE
       SET workflow_hash = excluded.workflow_hash, is_active = true, updated_at = now()
       WHERE dag_workflows.workflow_hash <> excluded.workflow_hash OR NOT dag_workflows.is_active`,
    [workflow_hash, definition.workflow_id, definition.version, JSON.stringify(definition), source],
  );
}

/** Marks a workflow whose file is gone: its versions stay, for the jobs that use them. */
export async function retireWorkflow(db: Queryable, workflowId: string): Promise<void> {
  await db.query(
    `UPDATE dagapp.dag_workflows SET is_active = false, updated_at = now()
     WHERE workflow_id = $1 AND is_active`,
    [workflowId],
  );
}
