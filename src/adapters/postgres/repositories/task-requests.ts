import type { TaskAnswer, TaskRequest } from "../../../core/model/task-request.ts";
import { taskAnswer, taskRequest } from "../../../core/model/task-request.ts";
import { taskRequestsChannel } from "../channels.ts";
import type { Queryable } from "../queryable.ts";

interface Asker {
  readonly task_id: string;
  readonly job_id: string;
}

/** Writes what a task asks; a task that asks again keeps its first request and its answer. */
export async function askOrchestrator(
  db: Queryable,
  { task_id, job_id }: Asker,
  { action, params }: TaskRequest,
): Promise<void> {
  await db.query(
    `WITH asked AS (
       INSERT INTO dagapp.dag_task_requests (task_id, job_id, action, params)
       VALUES ($1, $2, $3, $4) ON CONFLICT (task_id) DO NOTHING RETURNING task_id)
     SELECT pg_notify('${taskRequestsChannel}', '') FROM asked`,
    [task_id, job_id, action, JSON.stringify(params)],
  );
}

export async function findAnswer(db: Queryable, taskId: string): Promise<TaskAnswer | undefined> {
  const { rows } = await db.query<{ answer: unknown }>(
    `SELECT answer FROM dagapp.dag_task_requests WHERE task_id = $1 AND answer IS NOT NULL`,
    [taskId],
  );
  return rows[0] === undefined ? undefined : taskAnswer.parse(rows[0].answer);
}

/** Requests without an answer, the oldest first. */
export async function findRequests(
  db: Queryable,
  limit: number,
): Promise<readonly (TaskRequest & Asker)[]> {
  const { rows } = await db.query<Asker & { action: string; params: unknown }>(
    `SELECT task_id, job_id, action, params FROM dagapp.dag_task_requests
     WHERE answer IS NULL ORDER BY asked_at LIMIT $1`,
    [limit],
  );
  return rows.map(({ task_id, job_id, ...asked }) => ({
    ...taskRequest.parse(asked),
    task_id,
    job_id,
  }));
}

/** The first answer stays: two orchestrators may have looked at one request. */
export async function answerRequest(
  db: Queryable,
  taskId: string,
  answer: TaskAnswer,
): Promise<void> {
  await db.query(
    `UPDATE dagapp.dag_task_requests SET answer = $2, answered_at = now()
     WHERE task_id = $1 AND answer IS NULL`,
    [taskId, JSON.stringify(answer)],
  );
}

export async function dropOldRequests(db: Queryable): Promise<void> {
  await db.query(
    `DELETE FROM dagapp.dag_task_requests WHERE answered_at < now() - interval '30 days'`,
  );
}
