import type { Transaction } from "../queryable.ts";

/**
 * The children of these fan-outs for a job that carries on another's work. What completed stays
 * completed; everything else is due at once, as a first attempt with the same parameters.
 */
export async function copyChildren(
  tx: Transaction,
  fromJob: string,
  toJob: string,
  fanOutIds: readonly string[],
): Promise<void> {
  if (fanOutIds.length === 0) return;
  await tx.query(
    `INSERT INTO dagapp.dag_node_states
       (job_id, node_id, node_type, status, parent_node_id, fan_out_index, max_retries, handler,
        queue, timeout_seconds, input_params, output, retry_at, completed_at)
     SELECT $2, node_id, node_type,
        CASE status WHEN 'completed' THEN status ELSE 'ready' END,
        parent_node_id, fan_out_index, max_retries, handler, queue, timeout_seconds, input_params,
        CASE status WHEN 'completed' THEN output END,
        CASE status WHEN 'completed' THEN NULL ELSE now() END,
        CASE status WHEN 'completed' THEN now() END
     FROM dagapp.dag_node_states WHERE job_id = $1 AND parent_node_id = ANY($3)`,
    [fromJob, toJob, fanOutIds],
  );
}
