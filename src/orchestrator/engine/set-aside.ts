import type { Logger } from "../../adapters/runtime/logger.ts";

const pauseMs = 60_000;

/** Jobs that break the tick by themselves. They are tried again now and then, alone if need be. */
export interface SetAside {
  add(jobId: string, now: number, error: unknown): void;
  /** Those whose time has not come yet. */
  list(now: number): readonly string[];
}

export function createSetAside(log: Logger): SetAside {
  const until = new Map<string, number>();
  return {
    add(jobId, now, error) {
      until.set(jobId, now + pauseMs);
      log.error({ err: error, job_id: jobId, pauseMs }, "a job cannot be settled; set aside");
    },
    list(now) {
      for (const [jobId, time] of until) if (time <= now) until.delete(jobId);
      return [...until.keys()];
    },
  };
}
