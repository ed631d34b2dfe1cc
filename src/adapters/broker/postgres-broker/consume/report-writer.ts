/**
 * Writes the reports of a worker: over the push connection of the message where there is one,
 * otherwise to the database, in batches.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Queryable } from "../../../postgres/queryable.ts";
import { backoffDelay } from "../../../../core/backoff.ts";
import { createBatcher } from "../../../runtime/batcher.ts";
import { errorCode } from "../../../runtime/error-code.ts";
import type { Logger } from "../../../runtime/logger.ts";
import type { Settled } from "../../broker.ts";
import type { TaskReport } from "../../../../core/messages.ts";
import type { PushClient } from "../push/client.ts";
import type { LeaseToken } from "../sql/message-columns.ts";
import type { LeasedReport } from "../sql/record-reports.ts";
import { findRecorded, recordReports } from "../sql/record-reports.ts";

export interface ReportWriter {
  write(report: TaskReport, origin: ReportOrigin): Promise<Settled>;
  /** Resolves when every report is written or has failed for good. */
  idle(): Promise<void>;
}

export interface ReportOrigin {
  readonly lease: LeaseToken;
  readonly leased_at: string;
  readonly pushedBy: object | undefined;
}

export interface ReportWriterOptions {
  /** Connections that commit asynchronously: a report that a crash loses is made again. */
  readonly db: () => Queryable;
  readonly push: Pick<PushClient, "report"> | undefined;
  readonly log: Logger;
}

const maxReports = 100;
const firstPauseMs = 100;
const longestPauseMs = 5000;
/** After these attempts the write fails; the messages are delivered again when their leases expire. */
const maxAttempts = 60;

export function createReportWriter({ db, push, log }: ReportWriterOptions): ReportWriter {
  const batches = createBatcher<LeasedReport, Settled>({ maxItems: maxReports, flush: persist });

  const recorded = createBatcher<LeasedReport, Settled>({
    maxItems: maxReports,
    flush: (batch) => findRecorded(db(), batch),
  });

  /** Retries: a result may be hours of work, and a short outage of the database must not lose it. */
  async function persist(batch: readonly LeasedReport[]): Promise<readonly Settled[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await recordReports(db(), batch);
      } catch (error) {
        if (isRefusal(error)) return recordSingly(batch, error);
        if (attempt >= maxAttempts) throw error;
        const pauseMs = backoffDelay(attempt - 1, firstPauseMs, longestPauseMs);
        log.warn({ err: error, reports: batch.length, pauseMs }, "not reported; trying again");
        await pause(pauseMs);
      }
    }
  }

  /** Records a report that the database refuses as a failure, and the others of its batch unchanged. */
  async function recordSingly(
    batch: readonly LeasedReport[],
    refusal: unknown,
  ): Promise<Settled[]> {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      log.error({ err: refusal, task_id: only.task_id }, "the database refused a result");
      return recordReports(db(), [refused(only, refusal)]);
    }
    const answers: Settled[] = [];
    for (const report of batch) answers.push(...(await persist([report])));
    return answers;
  }

  /** The orchestrator may have recorded the report, and the lease is gone with it. */
  async function writeAgain(report: LeasedReport): Promise<Settled> {
    const written = await batches.add(report);
    return written === "lost" ? recorded.add(report) : written;
  }

  return {
    write(report, { lease, leased_at, pushedBy }) {
      // Without the worker's id: the push server knows it from the connection.
      const { task_id, job_id, node_id, status, output, error } = report;
      const sent = { task_id, job_id, node_id, status, output, error, lease, leased_at };
      const pushed = push?.report(sent, pushedBy);
      if (pushed === undefined) return batches.add({ ...report, lease });
      return pushed.then((answer) =>
        answer === "again" ? writeAgain({ ...report, lease }) : answer,
      );
    },
    idle: async () => {
      await batches.idle();
      await recorded.idle();
    },
  };
}

/** Data exceptions, broken constraints, program limits: another attempt fails in the same way. */
function isRefusal(error: unknown): boolean {
  return /^(22|23|54)[0-9A-Z]{3}$/.test(errorCode(error) ?? "");
}

function refused(report: LeasedReport, refusal: unknown): LeasedReport {
  const reason = refusal instanceof Error ? refusal.message : String(refusal);
  const error = {
    code: "OUTPUT_INVALID",
    message: `The database refused the result: ${reason}`,
    category: "permanent",
  };
  return { ...report, status: "failed", output: null, error: JSON.stringify(error) };
}
