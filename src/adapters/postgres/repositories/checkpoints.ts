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

const insertCheckpoint = `
INSERT INTO dagapp.dag_checkpoints (job_id, node_id, seq, task_id, phase, data)
SELECT $1, $2, coalesce((SELECT max(seq) FROM dagapp.dag_checkpoints
                         WHERE job_id = $1 AND node_id = $2), 0) + 1, $3, $4, $5::jsonb`;

/**
 * Saves a checkpoint and answers its number. Answers undefined when the task is not the current
 * attempt of its node: an older attempt must not overwrite the state of the current one.
 */
export async function saveCheckpoint(
  db: Queryable,
  checkpoint: NewCheckpoint,
): Promise<number | undefined> {
  const isCurrentAttempt = `WHERE EXISTS (SELECT FROM dagapp.dag_node_states
    WHERE job_id = $1 AND node_id = $2 AND task_id = $3)`;
  return insert(db, `${insertCheckpoint} ${isCurrentAttempt} RETURNING seq`, checkpoint);
}

/** Saves a checkpoint in a transaction in which the caller has locked the lease of the task. */
export async function saveHeldCheckpoint(
  tx: Transaction,
  checkpoint: NewCheckpoint,
): Promise<number | undefined> {
  return insert(tx, `${insertCheckpoint} RETURNING seq`, checkpoint);
}

async function insert(
  db: Queryable,
  text: string,
  { job_id, node_id, task_id, phase, data }: NewCheckpoint,
): Promise<number | undefined> {
  const { rows } = await db.query<{ seq: number }>(text, [job_id, node_id, task_id, phase, data]);
  return rows[0]?.seq;
}
