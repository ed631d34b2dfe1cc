import { setTimeout as pause } from "node:timers/promises";
import { backoffDelay } from "../../core/backoff.ts";
import type { Logger } from "../runtime/logger.ts";
import { isOutage } from "./outage.ts";

export interface RetryOutageOptions {
  /** What is tried again, for the log. */
  readonly what: string;
  readonly log: Logger;
  /** Ends the attempts: the next one is not awaited. */
  readonly signal?: AbortSignal;
}

const firstPauseMs = 100;
const longestPauseMs = 5000;
/** About five minutes: a restart or a failover of the server is over by then. */
const maxAttempts = 60;

/** Runs the work again while the database cannot be reached. The work must be safe to repeat. */
export async function retryOutage<T>(
  work: () => Promise<T>,
  { what, log, signal }: RetryOutageOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || attempt >= maxAttempts || signal?.aborted === true) throw error;
      const pauseMs = backoffDelay(attempt - 1, firstPauseMs, longestPauseMs);
      log.warn({ err: error, pauseMs }, `${what} failed; trying again`);
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
