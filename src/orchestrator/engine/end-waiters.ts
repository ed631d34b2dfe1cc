import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findEnded } from "../../adapters/postgres/queries/jobs.ts";
import type { JobStatus } from "../../core/model/job.ts";

/** Requests that wait for the end of a job (`?wait=30`). */
export interface EndWaiters {
  /** The tick calls this when the end is committed. */
  resolve(jobId: string, status: JobStatus): void;
  /** Undefined: the job still runs after so long, or the caller went away. */
  wait(jobId: string, milliseconds: number, signal: AbortSignal): Promise<JobStatus | undefined>;
}

type Answer = (status: JobStatus | undefined) => void;

/** The database is asked only for jobs of other orchestrators: `resolve` covers this one's. */
const lookEveryMs = 1000;

export function createEndWaiters(db: Queryable): EndWaiters {
  const waiting = new Map<string, Set<Answer>>();
  let timer: NodeJS.Timeout | undefined;

  function resolveAll(jobId: string, status: JobStatus): void {
    for (const answer of waiting.get(jobId) ?? []) answer(status);
  }

  function lookLater(): void {
    timer ??= setTimeout(() => void look(), lookEveryMs).unref();
  }

  async function look(): Promise<void> {
    if (waiting.size > 0) {
      // When the database is away, the next look asks again.
      const ended = await findEnded(db, [...waiting.keys()]).catch(() => []);
      for (const { job_id, status } of ended) resolveAll(job_id, status);
    }
    timer = undefined;
    if (waiting.size > 0) lookLater();
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
        const answer: Answer = (status) => {
          clearTimeout(timeout);
          signal.removeEventListener("abort", giveUp);
          answers.delete(answer);
          if (answers.size === 0) waiting.delete(jobId);
          resolve(status);
        };
        answers.add(answer);
        waiting.set(jobId, answers);
        signal.addEventListener("abort", giveUp, { once: true });
        if (signal.aborted) giveUp();
        else lookLater();
      }),
  };
}
