import { hideDefaults } from "../../../core/dag/secrets.ts";
import type { InputDeclaration } from "../../../core/model/workflow.ts";
import type { Queryable } from "../queryable.ts";

export interface OfferedWorkflow {
  readonly workflow_id: string;
  readonly version: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly inputs: Readonly<Record<string, InputDeclaration>> | null;
  readonly outputs: Readonly<Record<string, unknown>> | null;
}

/** A default that is secret is not shown. */
function show(offered: OfferedWorkflow): OfferedWorkflow {
  return { ...offered, inputs: offered.inputs && hideDefaults(offered.inputs) };
}

const columns = "workflow_id, version, name, description, inputs, outputs";

/** Lists all workflows for operators, or those that a partner may submit. */
export async function listOffered(
  db: Queryable,
  to: "operators" | "partners",
): Promise<OfferedWorkflow[]> {
  const { rows } = await db.query<OfferedWorkflow>(
    `SELECT ${columns} FROM gateway.workflows WHERE for_partners OR $1 ORDER BY workflow_id`,
    [to === "operators"],
  );
  return rows.map(show);
}

export async function findOffered(
  db: Queryable,
  workflowId: string,
): Promise<OfferedWorkflow | undefined> {
  const { rows } = await db.query<OfferedWorkflow>(
    `SELECT ${columns} FROM gateway.workflows WHERE workflow_id = $1 AND for_partners`,
    [workflowId],
  );
  return rows[0] && show(rows[0]);
}
