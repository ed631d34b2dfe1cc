/**
 * Stops a program when the process of ours that started it is gone. Loaded into the program before its
 * own first line (`node --import`), so that the program need not know that it has a parent.
 *
 * The parent holds the other end of an IPC channel and sends nothing on it. The kernel closes the
 * channel even after `kill -9`, so there is no pid to watch, and none that could be reused.
 */
import { isMainThread } from "node:worker_threads";

/** A program that has not stopped by then, perhaps because its database is gone too, just exits. */
const stopTimeoutMs = 10_000;

function stop(): void {
  setTimeout(() => process.exit(1), stopTimeoutMs).unref();
  process.kill(process.pid, "SIGTERM");
}

// Threads load this module too; they end with their program.
if (isMainThread && process.send !== undefined) {
  if (process.connected) {
    process.once("disconnect", stop);
    // The open channel alone must not keep a program alive.
    process.channel?.unref();
  } else {
    // The parent was gone before this line, and the event with it.
    stop();
  }
}
