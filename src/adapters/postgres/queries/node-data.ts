import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";

export interface NodeData {
  readonly timeout_seconds: number | null;
  readonly params: JsonObject | null;
  readonly output: JsonObject | null;
}

/** The large columns of one node, apart from those that lists read. */
export async function readNodeData(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<NodeData> {
  const { rows } = await db.query<NodeData>(
    `SELECT timeout_seconds, input_params AS params, output
     FROM dagapp.dag_node_states WHERE job_id = $1 AND node_id = $2`,
    [jobId, nodeId],
  );
  return rows[0] ?? { timeout_seconds: null, params: null, output: null };
}
