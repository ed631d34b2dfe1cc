import type { Database } from "../adapters/postgres/database.ts";
import {
  loadCheckpoint,
  saveCheckpoint,
  saveHeldCheckpoint,
} from "../adapters/postgres/repositories/checkpoints.ts";
import { insertTaskLogs } from "../adapters/postgres/repositories/task-logs.ts";
import type { TaskLogRow } from "../adapters/postgres/repositories/task-logs.ts";
import { retryOutage } from "../adapters/postgres/retry-outage.ts";
import { createDebouncedWriter } from "../adapters/runtime/debounced-writer.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import type { TaskReport } from "../core/messages.ts";
import type { Outcome, Reporter, RunningTask } from "./reporter.ts";

export interface PostgresReporterOptions {
  readonly db: Database;
  /** Commits asynchronously; used for log lines. */
  readonly leaseDb: Database;
  readonly workerId: string;
  readonly log: Logger;
}

/** Reports through the delivery; checkpoints and logs go to the database. */
export function createPostgresReporter(options: PostgresReporterOptions): Reporter {
  const { db, leaseDb, workerId, log } = options;
  const lines = createDebouncedWriter<TaskLogRow>({
    what: "lines of task logs",
    delayMs: 300,
    maxWaiting: 5000,
    write: (rows) => insertTaskLogs(leaseDb, rows),
    log,
  });
  let lineCount = 0;

  return {
    report: (task, outcome) => task.delivery.report(toReport(task, outcome, workerId)),

    progress({ delivery }, percent, message) {
      delivery.progress(percent, message ?? null);
    },

    loadCheckpoint: ({ message, delivery }) =>
      retryOutage(() => loadCheckpoint(db, message.job_id, message.node_id), {
        what: "loading a checkpoint",
        log,
        signal: delivery.signal,
      }),

    async saveCheckpoint({ message, delivery }, phase, data) {
      const { job_id, node_id, task_id } = message;
      const checkpoint = { job_id, node_id, task_id, phase, data };
      const save = () =>
        delivery.isHeld === undefined
          ? saveCheckpoint(db, checkpoint)
          : db.transaction(async (tx) =>
              (await delivery.isHeld?.(tx)) ? saveHeldCheckpoint(tx, checkpoint) : undefined,
            );
      // A checkpoint that is saved twice, because an answer was lost, is the newest both times.
      const seq = await retryOutage(save, {
        what: "saving a checkpoint",
        log,
        signal: delivery.signal,
      });
      return seq === undefined ? "lost" : "ok";
    },

    log({ message }, line) {
      const { job_id, node_id, task_id } = message;
      lines.add(String(lineCount++), { job_id, node_id, task_id, ...line });
    },

    close: () => lines.close(),
  };
}

export function toReport(
  { message }: RunningTask,
  outcome: Outcome,
  worker_id: string,
): TaskReport {
  const { task_id, job_id, node_id } = message;
  return {
    task_id,
    job_id,
    node_id,
    worker_id,
    status: outcome.status,
    output: outcome.status === "completed" ? outcome.output : null,
    error: outcome.status === "failed" ? JSON.stringify(outcome.error) : null,
  };
}
