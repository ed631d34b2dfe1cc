import type { Logger } from "../../adapters/runtime/logger.ts";

const pauseMs = 60_000;
const busyPauseMs = 250;
const skippingMs = 10_000;

/** Jobs that ticks skip until their pause is over. */
export interface Quarantine {
  /** A job that could not be settled even alone. */
  add(jobId: string, now: number, error: unknown): void;
  /** Jobs whose rows another session has locked; answers when to look again, if there are any. */
  postpone(jobIds: readonly string[], now: number): number | null;
  /** A tick waited too long for a locked row: the next ones do not wait. */
  skipLocked(now: number): void;
  isSkipping(now: number): boolean;
  /** The jobs whose pause is not over. */
  list(now: number): readonly string[];
}

export function createQuarantine(log: Logger): Quarantine {
  const until = new Map<string, number>();
  let skippingUntil = 0;
  return {
    add(jobId, now, error) {
      until.set(jobId, now + pauseMs);
      log.error({ err: error, job_id: jobId, pauseMs }, "a job cannot be settled; quarantined");
    },
    postpone(jobIds, now) {
      for (const jobId of jobIds) {
        until.set(jobId, now + busyPauseMs);
        log.debug({ job_id: jobId }, "a job is locked by another session of the database");
      }
      if (jobIds.length === 0) return null;
      skippingUntil = now + skippingMs;
      return busyPauseMs;
    },
    skipLocked(now) {
      skippingUntil = now + skippingMs;
      log.warn("another session of the database has locked a job; ticks skip it meanwhile");
    },
    isSkipping: (now) => now < skippingUntil,
    list(now) {
      for (const [jobId, time] of until) if (time <= now) until.delete(jobId);
      return [...until.keys()];
    },
  };
}
