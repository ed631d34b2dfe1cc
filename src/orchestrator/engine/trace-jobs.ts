/**
 * The spans of traced jobs: each job's own, from its submission to its end, and one for each tick that
 * settles it. A job is traced if the request that submitted it is; its row says so.
 */
import type { Queryable, Transaction } from "../../adapters/postgres/queryable.ts";
import type { EndedTracedJob } from "../../adapters/postgres/queries/traced-jobs.ts";
import { findEndedTracedJobs } from "../../adapters/postgres/queries/traced-jobs.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import type { Tracer } from "../../adapters/tracing/tracer.ts";
import { isFinished } from "../../core/model/job.ts";
import { parentOfChild } from "../../core/model/node.ts";
import {
  formatTraceParent,
  isTracedChild,
  jobSpanId,
  jobTraceParent,
  parseTraceParent,
} from "../../core/trace/trace-parent.ts";
import type { JobState } from "./job-state.ts";

/** A job that a transaction settles, and the reports that it settles it with. */
interface SettledJob {
  readonly state: JobState;
  readonly trigger?: { readonly reports: readonly { readonly node_id: string }[] };
}

export interface JobTraces {
  /** What the row of a new job keeps of its request's context; null: it is not traced. */
  stored(context: string | undefined): string | null;
  /** Records after the commit what the transaction has done for traced jobs. */
  settling(tx: Transaction, name: "submit" | "tick", jobs: readonly SettledJob[]): void;
  /** Resolves when the spans of all ended jobs are recorded. */
  idle(): Promise<void>;
}

export function createJobTraces(tracer: Tracer, db: Queryable, log: Logger): JobTraces {
  const recording = new Set<Promise<void>>();

  /** After the commit, because only the row has all of it; a job that was taken over too. */
  async function recordEnds(jobIds: readonly string[]): Promise<void> {
    try {
      for (const job of await findEndedTracedJobs(db, jobIds)) recordJob(tracer, job);
    } catch (err) {
      log.warn({ err, jobs: jobIds }, "the spans of ended jobs were not recorded");
    }
  }

  return {
    stored(context) {
      const parent = parseTraceParent(context);
      return parent?.sampled === true ? formatTraceParent(parent) : null;
    },
    settling(tx, name, jobs) {
      // Copies, because the next tick decides on these states before this one is committed.
      const traced = jobs
        .filter(({ state }) => state.row.trace_parent !== null)
        .map(({ state, trigger }) => ({ state: { ...state }, ...(trigger && { trigger }) }));
      if (traced.length === 0) return;
      const startedAt = tracer.now();
      tx.afterCommit(() => {
        for (const job of traced) recordTick(tracer, name, job, jobs.length, startedAt);
        const ended = traced.filter(isEnded).map(({ state }) => state.row.job_id);
        if (ended.length === 0) return;
        const recorded = recordEnds(ended);
        recording.add(recorded);
        void recorded.finally(() => recording.delete(recorded));
      });
    },
    idle: async () => {
      await Promise.all(recording);
    },
  };
}

/** What the message of a task says about its trace: nothing for most children of a wide fan-out. */
export function traceOfTask(
  jobId: string,
  nodeId: string,
  stored: string,
): { readonly trace_parent?: string; readonly sent_at?: number } {
  const trace_parent = isTracedNode(nodeId) ? jobTraceParent(jobId, stored) : null;
  if (trace_parent === null) return {};
  return { trace_parent, sent_at: performance.timeOrigin + performance.now() };
}

function isTracedNode(nodeId: string): boolean {
  const child = parentOfChild(nodeId);
  return child === undefined || isTracedChild(child.index);
}

function isEnded({ state }: SettledJob): boolean {
  return isFinished(state.status) && !isFinished(state.row.status);
}

function recordTick(
  tracer: Tracer,
  name: string,
  job: SettledJob,
  jobsOfTick: number,
  startedAt: number,
): void {
  const { row, status } = job.state;
  const reports = job.trigger?.reports ?? [];
  // A wide fan-out takes hundreds of ticks: only those that a traced task caused are shown.
  const isShown =
    reports.length === 0 || isEnded(job) || reports.some(({ node_id }) => isTracedNode(node_id));
  if (!isShown) return;
  const span = tracer.start(name, {
    parent: jobTraceParent(row.job_id, row.trace_parent),
    startedAt,
    attributes: {
      "rmhdag.job_id": row.job_id,
      "rmhdag.job_status": status,
      "rmhdag.reports": reports.length,
      "rmhdag.nodes": reports
        .slice(0, 10)
        .map(({ node_id }) => node_id)
        .join(","),
      "rmhdag.jobs_of_tick": jobsOfTick,
    },
  });
  span.end();
}

function recordJob(tracer: Tracer, job: EndedTracedJob): void {
  const first = job.rerun_of === null ? null : jobTraceParent(job.rerun_of, job.first_trace_parent);
  const span = tracer.start(`job ${job.workflow_id}`, {
    parent: job.trace_parent,
    spanId: jobSpanId(job.job_id),
    startedAt: job.created_ms,
    links: first === null ? [] : [first],
    attributes: {
      "rmhdag.job_id": job.job_id,
      "rmhdag.workflow_id": job.workflow_id,
      "rmhdag.workflow_version": job.workflow_version,
      "rmhdag.job_status": job.status,
      "rmhdag.nodes_total": job.nodes_total,
      ...(job.rerun_of === null ? {} : { "rmhdag.rerun_of": job.rerun_of }),
      ...(job.failed_node_id === null ? {} : { "rmhdag.failed_node": job.failed_node_id }),
      ...(job.error_code === null ? {} : { "error.type": job.error_code }),
    },
  });
  const error = job.status === "failed" ? (job.error_message ?? "the job failed") : undefined;
  span.end({ error, endedAt: job.completed_ms });
}
