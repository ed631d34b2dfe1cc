import type { Logger } from "./logger.ts";

export interface ShutdownOptions {
  readonly log: Logger;
  /** What to stop, in this order; a failure does not keep the rest from stopping. */
  readonly steps: readonly { readonly name: string; readonly stop: () => Promise<unknown> }[];
}

/** Conventional: 128 and the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The first signal stops everything in order and ends the process with 0; the second one ends it at
 * once, for whoever does not want to wait. Answers a function that does what the first signal does.
 */
export function stopOnSignals({ log, steps }: ShutdownOptions): () => Promise<void> {
  let stopping: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    for (const { name, stop } of steps) {
      try {
        await stop();
      } catch (err) {
        process.exitCode = 1;
        log.error({ err, step: name }, "could not stop cleanly");
      }
    }
    log.info("stopped");
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping !== undefined) {
        log.warn({ signal }, "second signal: ending at once");
        process.exit(exitCodes[signal]);
      }
      log.info({ signal }, "stopping");
      stopping = stopAll();
      // Handlers that ignore their signal keep timers and sockets open; they do not matter now.
      void stopping.then(() => process.exit());
    });
  }
  return () => (stopping ??= stopAll());
}
