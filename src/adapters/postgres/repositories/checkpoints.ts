import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable, Transaction } from "../queryable.ts";

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

/** Loads the newest checkpoint of a node, whichever attempt saved it. */
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
 * Saves a checkpoint of a task that is its node's current attempt; answers its number. Undefined: it
 * is not, and an older attempt must not overwrite the state of the one which runs now.
 */
export async function saveCheckpoint(
  db: Queryable,
  checkpoint: NewCheckpoint,
): Promise<number | undefined> {
  const current = `WHERE EXISTS (SELECT FROM dagapp.dag_node_states
    WHERE job_id = $1 AND node_id = $2 AND task_id = $3)`;
  return insert(db, `${insertText} ${current} RETURNING seq`, checkpoint);
}

/** The same in a transaction in which the caller has made sure that it still holds the task. */
export async function saveHeldCheckpoint(
  tx: Transaction,
  checkpoint: NewCheckpoint,
): Promise<number | undefined> {
  return insert(tx, `${insertText} RETURNING seq`, checkpoint);
}

async function insert(
  db: Queryable,
  text: string,
  { job_id, node_id, task_id, phase, data }: NewCheckpoint,
): Promise<number | undefined> {
  const { rows } = await db.query<{ seq: number }>(text, [job_id, node_id, task_id, phase, data]);
  return rows[0]?.seq;
}
