import type { JsonObject } from "../../../core/model/json.ts";
import type { LeaseToken } from "../../broker/broker.ts";
import type { Queryable } from "../queryable.ts";

export interface Checkpoint {
  readonly seq: number;
  readonly phase: string;
  readonly data: JsonObject;
}

export interface NewCheckpoint {
  readonly job_id: string;
  readonly node_id: string;
  readonly task_id: string;
  readonly phase: string;
  /** JSON text. */
  readonly data: string;
}

/** The newest of the node, whichever attempt saved it. */
export async function loadCheckpoint(
  db: Queryable,
  jobId: string,
  nodeId: string,
): Promise<Checkpoint | undefined> {
  const { rows } = await db.query<Checkpoint>(
    `SELECT seq, phase, data FROM dagapp.dag_checkpoints
     WHERE job_id = $1 AND node_id = $2 ORDER BY seq DESC LIMIT 1`,
    [jobId, nodeId],
    "dag_load_checkpoint",
  );
  return rows[0];
}

const insertText = `
INSERT INTO dagapp.dag_checkpoints (job_id, node_id, seq, task_id, phase, data)
SELECT $1, $2, coalesce((SELECT max(seq) FROM dagapp.dag_checkpoints
                         WHERE job_id = $1 AND node_id = $2), 0) + 1, $3, $4, $5::jsonb`;

/**
 * Answers its number, or undefined when the task is no longer the saver's: an attempt that lost its
 * message must not put its older state over that of the one which runs now.
 */
export async function saveCheckpoint(
  db: Queryable,
  checkpoint: NewCheckpoint,
  lease?: LeaseToken,
): Promise<number | undefined> {
  const { job_id, node_id, task_id, phase, data } = checkpoint;
  const values = [job_id, node_id, task_id, phase, data];
  const { rows } =
    lease === undefined
      ? await db.query<{ seq: number }>(
          `${insertText} WHERE EXISTS (SELECT FROM dagapp.dag_node_states
             WHERE job_id = $1 AND node_id = $2 AND task_id = $3) RETURNING seq`,
          values,
        )
      : await db.query<{ seq: number }>(
          `${insertText} WHERE EXISTS (SELECT FROM dagapp.dag_queue_leases
             WHERE message_id = $6 AND deliveries = $7) RETURNING seq`,
          [...values, lease.message_id, lease.deliveries],
        );
  return rows[0]?.seq;
}
