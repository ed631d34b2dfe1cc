import type { Logger } from "../../adapters/runtime/logger.ts";

const pauseMs = 60_000;

/** Jobs that could not be settled even alone. Ticks skip them until their pause is over. */
export interface Quarantine {
  add(jobId: string, now: number, error: unknown): void;
  /** The jobs whose pause is not over. */
  list(now: number): readonly string[];
}

export function createQuarantine(log: Logger): Quarantine {
  const until = new Map<string, number>();
  return {
    add(jobId, now, error) {
      until.set(jobId, now + pauseMs);
      log.error({ err: error, job_id: jobId, pauseMs }, "a job cannot be settled; quarantined");
    },
    list(now) {
      for (const [jobId, time] of until) if (time <= now) until.delete(jobId);
      return [...until.keys()];
    },
  };
}
