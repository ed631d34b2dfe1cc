import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findEnded } from "../../adapters/postgres/queries/jobs.ts";
import type { JobStatus } from "../../core/model/job.ts";

/** Tells whoever waits for a job that it has ended. */
export interface JobEnds {
  /** By the tick, when the end is committed. */
  tell(jobId: string, status: JobStatus): void;
  /** Undefined: it still runs after so long, or the waiting was given up. */
  wait(jobId: string, milliseconds: number, signal: AbortSignal): Promise<JobStatus | undefined>;
}

type Answer = (status: JobStatus | undefined) => void;

/** Only for jobs that another orchestrator took over: the ends of its own a process knows at once. */
const lookEveryMs = 1000;

export function createJobEnds(db: Queryable): JobEnds {
  const waiting = new Map<string, Set<Answer>>();
  let timer: NodeJS.Timeout | undefined;

  function tell(jobId: string, status: JobStatus): void {
    for (const answer of waiting.get(jobId) ?? []) answer(status);
  }

  function lookLater(): void {
    timer ??= setTimeout(() => void look(), lookEveryMs).unref();
  }

  async function look(): Promise<void> {
    if (waiting.size > 0) {
      // A database that is away has no news: the next look asks again.
      const ended = await findEnded(db, [...waiting.keys()]).catch(() => []);
      for (const { job_id, status } of ended) tell(job_id, status);
    }
    timer = undefined;
    if (waiting.size > 0) lookLater();
  }

  return {
    tell,
    wait: (jobId, milliseconds, signal) =>
      new Promise((resolve) => {
        const giveUp = () => {
          answer(undefined);
        };
        const patience = setTimeout(giveUp, milliseconds);
        const answers = waiting.get(jobId) ?? new Set<Answer>();
        const answer: Answer = (status) => {
          clearTimeout(patience);
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
