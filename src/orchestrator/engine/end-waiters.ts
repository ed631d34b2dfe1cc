import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findEnded } from "../../adapters/postgres/queries/jobs.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";

/** How a job ended. Without result and error they are read from its row. */
export interface JobEnd {
  readonly status: JobStatus;
  readonly result?: JsonObject | undefined;
  readonly error?: JobError | null | undefined;
}

export interface JobError {
  readonly code: string | null;
  readonly message: string;
  readonly node_id: string | null;
}

/** HTTP requests that wait for the end of a job (`?wait=30`). */
export interface EndWaiters {
  /** Called by the tick after the commit of the job's end. */
  resolve(jobId: string, end: JobEnd): void;
  /** Answers undefined when the job still runs after the time, or when the caller disconnects. */
  wait(jobId: string, milliseconds: number, signal: AbortSignal): Promise<JobEnd | undefined>;
}

type Answer = (end: JobEnd | undefined) => void;

/** The poll finds ends of other orchestrators' jobs; `resolve` covers the jobs of this one. */
const pollMs = 1000;

export function createEndWaiters(db: Queryable): EndWaiters {
  const waiting = new Map<string, Set<Answer>>();
  let timer: NodeJS.Timeout | undefined;

  function resolveAll(jobId: string, end: JobEnd): void {
    for (const answer of waiting.get(jobId) ?? []) answer(end);
  }

  function schedulePoll(): void {
    timer ??= setTimeout(() => void poll(), pollMs).unref();
  }

  async function poll(): Promise<void> {
    if (waiting.size > 0) {
      // An error is ignored: the next poll asks again.
      const ended = await findEnded(db, [...waiting.keys()]).catch(() => []);
      for (const { job_id, status } of ended) resolveAll(job_id, { status });
    }
    timer = undefined;
    if (waiting.size > 0) schedulePoll();
  }

  return {
    resolve: resolveAll,
    wait: (jobId, milliseconds, signal) =>
      new Promise((resolve) => {
        const giveUp = () => {
          answer(undefined);
        };
        const timeout = setTimeout(giveUp, milliseconds);
        const answers = waiting.get(jobId) ?? new Set<Answer>();
        const answer: Answer = (end) => {
          clearTimeout(timeout);
          signal.removeEventListener("abort", giveUp);
          answers.delete(answer);
          if (answers.size === 0) waiting.delete(jobId);
          resolve(end);
        };
        answers.add(answer);
        waiting.set(jobId, answers);
        signal.addEventListener("abort", giveUp, { once: true });
        if (signal.aborted) giveUp();
        else schedulePoll();
      }),
  };
}
