import type { Database } from "../../adapters/postgres/database.ts";
import { findTask } from "../../adapters/postgres/queries/tasks.ts";
import { recordReports } from "../../adapters/postgres/repositories/reports.ts";
import { writeTaskMetrics } from "../../adapters/postgres/repositories/task-metrics.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { cleanText } from "../../core/model/output.ts";

/** A result as older workers send it: one object that names its task, and a message as its error. */
export interface OlderResult {
  readonly task_id: string;
  readonly worker_id?: string | null | undefined;
  readonly status: "completed" | "failed";
  readonly output?: JsonObject | null | undefined;
  readonly error_message?: string | null | undefined;
  readonly execution_duration_ms?: number | null | undefined;
  readonly metrics?: JsonObject | null | undefined;
}

/** Records a result once; that of an unknown task, or of one that ended, is lost. */
export async function recordOlderResult(
  db: Database,
  result: OlderResult,
): Promise<{ accepted: string[]; lost: string[] }> {
  const { task_id, status, metrics = null, execution_duration_ms = null } = result;
  const task = await findTask(db, task_id);
  if (task === undefined) return { accepted: [], lost: [task_id] };
  const message = cleanText(result.error_message ?? "The task failed without a message.");
  const error = { code: "HANDLER_FAILED", message, category: "transient" };
  await recordReports(db, [
    {
      ...task,
      task_id,
      worker_id: result.worker_id ?? "unknown",
      status,
      output: status === "completed" ? JSON.stringify(result.output ?? {}) : null,
      error: status === "failed" ? JSON.stringify(error) : null,
    },
  ]);
  if ((metrics ?? execution_duration_ms) !== null) {
    const { job_id } = task;
    await writeTaskMetrics(db, [{ task_id, job_id, metrics, execution_duration_ms }]);
  }
  return { accepted: [task_id], lost: [] };
}
