/** A peer's worker as a process of its own; it says when it is ready, and how much it has done. */
import { fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

export async function startWorker(file, config) {
  const child = fork(file, [JSON.stringify(config)], {
    execArgv: ["--no-deprecation"],
    stdio: "inherit",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let done = 0;
  await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the worker ended with ${code}`)));
    child.on("message", (message) => {
      if (message === "ready") resolve();
      else done = message.done;
    });
  });
  return {
    pid: child.pid,
    done: () => done,
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/**
 * Waits cheaply until the workers have run so many tasks, and then until the store says so: asking
 * the store all the time would cost the peer a part of its own speed.
 */
export async function waitUntil(workers, count, isRecorded) {
  while (workers.reduce((sum, worker) => sum + worker.done(), 0) < count) await pause(5);
  while (!(await isRecorded())) await pause(5);
}
