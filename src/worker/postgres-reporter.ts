import { setTimeout as pause } from "node:timers/promises";
import type { Settled } from "../adapters/broker/broker.ts";
import type { Queryable } from "../adapters/postgres/queryable.ts";
import { loadCheckpoint, saveCheckpoint } from "../adapters/postgres/repositories/checkpoints.ts";
import { recordProgress } from "../adapters/postgres/repositories/messages.ts";
import type { ProgressRow } from "../adapters/postgres/repositories/messages.ts";
import { recordReports, recordResults } from "../adapters/postgres/repositories/reports.ts";
import type { LeasedResultRow, TaskResultRow } from "../adapters/postgres/repositories/reports.ts";
import { insertTaskLogs } from "../adapters/postgres/repositories/task-logs.ts";
import type { TaskLogRow } from "../adapters/postgres/repositories/task-logs.ts";
import { createBatcher } from "../adapters/runtime/batcher.ts";
import { errorCode } from "../adapters/runtime/error-code.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { backoffDelay } from "../core/backoff.ts";
import { createLater } from "./later.ts";
import type { WorkerLinks } from "./links.ts";
import type { Outcome, Reporter, RunningTask } from "./reporter.ts";

export interface PostgresReporterOptions {
  readonly db: Queryable;
  /** Connections that commit asynchronously: for what is done again should the server lose it. */
  readonly leaseDb: Queryable;
  readonly workerId: string;
  /** The shorter way to an orchestrator, where there is one. */
  readonly links?: Pick<WorkerLinks, "tell"> | undefined;
  readonly log: Logger;
}

const maxReports = 100;
const firstPauseMs = 100;
const longestPauseMs = 5000;
/** Then the reports are given up; their messages come back when their leases have run out. */
const attempts = 60;

export function createPostgresReporter(options: PostgresReporterOptions): Reporter {
  const { db, leaseDb, workerId, links, log } = options;

  const reports = createBatcher<LeasedResultRow, Settled>({
    maxItems: maxReports,
    flush: (batch) => persist(batch),
  });
  const progress = createLater<ProgressRow>({
    what: "progress",
    delayMs: 500,
    maxWaiting: 1000,
    write: (rows) => recordProgress(leaseDb, rows),
    log,
  });
  const lines = createLater<TaskLogRow>({
    what: "lines of task logs",
    delayMs: 300,
    maxWaiting: 5000,
    write: (rows) => insertTaskLogs(leaseDb, rows),
    log,
  });
  let lineCount = 0;

  /** A result may be hours of work: a database that is away for a minute must not cost it. */
  async function persist(batch: readonly LeasedResultRow[]): Promise<readonly Settled[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await recordReports(leaseDb, batch);
      } catch (error) {
        if (isRefusal(error)) return recordSingly(batch, error);
        if (attempt >= attempts) throw error;
        const pauseMs = backoffDelay(attempt - 1, firstPauseMs, longestPauseMs);
        log.warn({ err: error, reports: batch.length, pauseMs }, "not reported; trying again");
        await pause(pauseMs);
      }
    }
  }

  /** What a link may have lost is told again: whoever comes second finds no lease. */
  async function tell(row: LeasedResultRow): Promise<Settled> {
    const settled = await links?.tell(row);
    return settled === undefined || settled === "again" ? reports.add(row) : settled;
  }

  /** One row that the database refuses must not take the others of its batch with it. */
  async function recordSingly(
    batch: readonly LeasedResultRow[],
    refusal: unknown,
  ): Promise<Settled[]> {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      log.error({ err: refusal, task_id: only.task_id }, "the database refused a result");
      return recordReports(leaseDb, [refused(only, refusal)]);
    }
    const answers: Settled[] = [];
    for (const row of batch) answers.push(...(await persist([row])));
    return answers;
  }

  return {
    report(task, outcome) {
      const row = toRow(task, outcome, workerId);
      const { delivery } = task;
      if (delivery.settleWith !== undefined) {
        return delivery.settleWith((lease) => tell({ ...row, lease }));
      }
      // First the result: between the two a crash brings the message back, and the result is known.
      return recordResults(db, [row]).then(() => delivery.complete());
    },

    progress(task, percent, message) {
      const { lease } = task.delivery;
      if (lease === undefined) return;
      progress.add(task.message.task_id, { lease, percent, message: message ?? null });
    },

    async loadCheckpoint({ message }) {
      return loadCheckpoint(db, message.job_id, message.node_id);
    },

    async saveCheckpoint({ message, delivery }, phase, data) {
      const { job_id, node_id, task_id } = message;
      const row = { job_id, node_id, task_id, phase, data };
      const seq = await saveCheckpoint(db, row, delivery.lease);
      return seq === undefined ? "lost" : "ok";
    },

    log({ message }, line) {
      const { job_id, node_id, task_id } = message;
      lines.add(String(lineCount++), { job_id, node_id, task_id, ...line });
    },

    async close() {
      await reports.idle();
      await Promise.all([progress.close(), lines.close()]);
    },
  };
}

function toRow({ message }: RunningTask, outcome: Outcome, workerId: string): TaskResultRow {
  return {
    task_id: message.task_id,
    job_id: message.job_id,
    node_id: message.node_id,
    worker_id: workerId,
    status: outcome.status,
    output: outcome.status === "completed" ? outcome.output : null,
    error: outcome.status === "failed" ? JSON.stringify(outcome.error) : null,
  };
}

/** Data exceptions, broken constraints, program limits: trying again cannot help. */
function isRefusal(error: unknown): boolean {
  return /^(22|23|54)[0-9A-Z]{3}$/.test(errorCode(error) ?? "");
}

function refused(row: LeasedResultRow, refusal: unknown): LeasedResultRow {
  const reason = refusal instanceof Error ? refusal.message : String(refusal);
  const error = {
    code: "OUTPUT_INVALID",
    message: `The database refused the result: ${reason}`,
    category: "permanent",
  };
  return { ...row, status: "failed", output: null, error: JSON.stringify(error) };
}
