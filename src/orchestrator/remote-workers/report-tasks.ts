import type { RemoteLeases, RemoteReport } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { writeTaskMetrics } from "../../adapters/postgres/repositories/task-metrics.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { storeValue } from "../../adapters/storage/stored-values.ts";
import type { TaskMessage } from "../../core/messages.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { valueLimits } from "../../core/model/limits.ts";
import { checkOutput, cleanText } from "../../core/model/output.ts";
import type { ErrorCategory, TaskError } from "../../core/model/task.ts";

/** How a task ended, in the words of the protocol or of the older result format. */
export interface RemoteResult {
  readonly lease: string;
  readonly status: "completed" | "failed";
  readonly output?: JsonObject | null | undefined;
  readonly error?: RemoteError | null | undefined;
  readonly error_message?: string | null | undefined;
  readonly category?: ErrorCategory | null | undefined;
  readonly execution_duration_ms?: number | null | undefined;
  readonly metrics?: JsonObject | null | undefined;
}

interface RemoteError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly category?: ErrorCategory | undefined;
  readonly details?: JsonObject | undefined;
}

export interface ReportDeps {
  readonly db: Database;
  readonly leases: RemoteLeases;
  readonly storage: Storage;
}

/** Records results, and answers the leases that were accepted. */
export async function reportTasks(
  { db, leases, storage }: ReportDeps,
  holder: string,
  results: readonly RemoteResult[],
): Promise<ReadonlySet<string>> {
  const tasks = await leases.identify(
    holder,
    results.map(({ lease }) => lease),
  );
  const reports: RemoteReport[] = [];
  for (const result of results) {
    const task = tasks.get(result.lease);
    if (task !== undefined) reports.push(await toReport(storage, holder, result, task));
  }
  reach("callback.before_record");
  const measured = results.flatMap(
    ({ lease, metrics = null, execution_duration_ms: duration = null }) => {
      const task = tasks.get(lease);
      if (task === undefined || (metrics ?? duration) === null) return [];
      const { task_id, job_id } = task;
      return [{ lease, task_id, job_id, metrics, execution_duration_ms: duration }];
    },
  );
  const record = async (tx?: Transaction): Promise<ReadonlySet<string>> => {
    const settled = await leases.report(reports, tx);
    reach("remote.recorded");
    return new Set(reports.filter((_, index) => settled[index] === "ok").map(({ lease }) => lease));
  };
  // Metrics must be written with the results: a report that is repeated after a crash is `lost`.
  const accepted =
    measured.length === 0
      ? await record()
      : await db.transaction(async (tx) => {
          const kept = await record(tx);
          await writeTaskMetrics(
            tx,
            measured.filter(({ lease }) => kept.has(lease)),
          );
          return kept;
        });
  reach("callback.after_record");
  return accepted;
}

type Task = Pick<TaskMessage, "task_id" | "job_id" | "node_id">;

async function toReport(
  storage: Storage,
  holder: string,
  result: RemoteResult,
  { task_id, job_id, node_id }: Task,
): Promise<RemoteReport> {
  const task = { lease: result.lease, task_id, job_id, node_id, worker_id: holder };
  const failed = (error: TaskError): RemoteReport => ({
    ...task,
    status: "failed",
    output: null,
    error: JSON.stringify(error),
  });
  if (result.status === "failed") return failed(toError(result));
  const checked = checkOutput(result.output ?? {});
  if (!checked.ok) return failed(checked.error);
  const output =
    checked.bytes <= valueLimits.inline
      ? checked.json
      : JSON.stringify(await storeValue(storage, task.job_id, checked.json));
  return { ...task, status: "completed", output, error: null };
}

/** An error without a category is transient: it is retried as often as the workflow allows. */
export function toError({
  error,
  error_message,
  category,
}: Pick<RemoteResult, "error" | "error_message" | "category">): TaskError {
  const text = error?.message ?? error_message ?? "The task failed without a message.";
  return {
    code: cleanText(error?.code ?? "HANDLER_FAILED").slice(0, 64),
    message: cleanText(text).slice(0, 8000),
    category: error?.category ?? category ?? "transient",
    ...(error?.details === undefined ? {} : { details: error.details }),
  };
}
