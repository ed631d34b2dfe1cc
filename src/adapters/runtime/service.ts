/**
 * The one timer round every background service. What a service does is its `runOnce`, which a test
 * calls without any timer.
 */
import { backoffDelay } from "../../core/backoff.ts";
import type { Logger } from "./logger.ts";

export interface Service {
  start(): void;
  /** Runs at once, or once more after the run that is under way: many wakes make one run. */
  wake(): void;
  /** Resolves when the run that is under way is over. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly name: string;
  /** May answer in how many milliseconds it wants to run next, if that is sooner. */
  readonly runOnce: () => Promise<unknown>;
  readonly intervalMs: number;
  readonly log: Logger;
  /** The pause after a first failure; it doubles with each further one. */
  readonly firstPauseMs?: number;
  /** Absent: the interval, or a minute if that is more. */
  readonly longestPauseMs?: number;
}

export function createService(options: ServiceOptions): Service {
  const { name, runOnce, intervalMs, log, firstPauseMs = 100 } = options;
  const { longestPauseMs = Math.max(intervalMs, 60_000) } = options;
  let isRunning = false;
  let isStarted = false;
  let isWoken = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();

  function schedule(milliseconds: number): void {
    clearTimeout(timer);
    if (!isStarted) return;
    // A timer of nothing still waits for a millisecond, which a busy engine would lose every time.
    if (milliseconds === 0) setImmediate(run);
    else timer = setTimeout(run, milliseconds);
  }

  function run(): void {
    if (!isStarted) return;
    clearTimeout(timer);
    if (isRunning) {
      isWoken = true;
      return;
    }
    isRunning = true;
    isWoken = false;
    current = attempt();
  }

  async function attempt(): Promise<void> {
    let nextMs = intervalMs;
    try {
      const answer = await runOnce();
      failures = 0;
      if (typeof answer === "number") nextMs = Math.min(intervalMs, Math.max(0, answer));
    } catch (err) {
      nextMs = backoffDelay(failures++, firstPauseMs, longestPauseMs);
      log.error({ err, service: name, retryInMs: nextMs }, "a background service failed");
    }
    isRunning = false;
    // A wake that came during a failed run does not undo the pause, or a broken database would be
    // asked in a loop; one that comes during the pause is news, such as a database that is back.
    schedule(isWoken && failures === 0 ? 0 : nextMs);
  }

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      run();
    },
    wake: run,
    async stop() {
      isStarted = false;
      clearTimeout(timer);
      await current;
    },
  };
}
