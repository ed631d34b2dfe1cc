/**
 * What a program does on SIGTERM and SIGINT. The first signal runs the program's stop steps one
 * after the other and exits with 0; a second signal exits at once. The steps are the list
 * `stopSteps` in the program's wiring.ts:
 *
 * - orchestrator: end live streams; stop the HTTP server, which lets open requests finish; stop
 *   callbacks and exports; take no more submissions from the job queue; close push connections; stop
 *   the engine: the running tick ends, and its jobs are released for other orchestrators at once;
 *   close broker and database.
 * - worker: announce the stop on the push connections, so that no further task is pushed; take no
 *   new task, abort the running ones, wait up to WORKER_SHUTDOWN_SECONDS for them (a handler may
 *   save a checkpoint), and return unfinished ones to their queue; send the last reports; close
 *   push connections; stop the heartbeat; remove the work folder; close broker and database.
 * - gateway: stop the HTTP server; stop its checks; finish open polls; close the database.
 *
 * If a step fails or the process is killed, no work is lost: its leases run out and its heartbeat
 * gets old, and other processes take over. `rmhdag up` stops workers and gateway first, then the
 * orchestrator, then the database (cli/up/run-site.ts).
 */
import type { Logger } from "./logger.ts";

export interface ShutdownOptions {
  readonly log: Logger;
  /** Run in this order; a failed step does not keep the next ones from running. */
  readonly steps: readonly { readonly name: string; readonly stop: () => Promise<unknown> }[];
}

/** The conventional exit status: 128 and the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** A step that takes longer is named in the log. */
const reminderMs = 3000;

export function stopOnSignals({ log, steps }: ShutdownOptions): void {
  let isStopping = false;

  async function stopAll(): Promise<void> {
    for (const { name, stop } of steps) {
      const reminder = setInterval(() => {
        log.info({ step: name }, "still stopping");
      }, reminderMs);
      try {
        await stop();
      } catch (err) {
        process.exitCode = 1;
        log.error({ err, step: name }, "a stop step failed");
      } finally {
        clearInterval(reminder);
      }
    }
    log.info("stopped");
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isStopping) {
        log.warn({ signal }, "second signal: exiting at once");
        process.exit(exitCodes[signal]);
      }
      isStopping = true;
      log.info({ signal }, "stopping");
      // Explicit: a handler that ignores its abort signal may keep timers and sockets open.
      void stopAll().then(() => process.exit());
    });
  }
}
