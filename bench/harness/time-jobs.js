import { pauses } from "./pauses.js";

/** W1 for everybody: one job after the other, each alone. */
export async function timeJobs(count, runJob) {
  const latencies = [];
  for (let n = 0; n < count; n++) {
    await pauses(n);
    const began = performance.now();
    await runJob(n);
    latencies.push(performance.now() - began);
  }
  return { tasks: count, latencies };
}

export async function timed(tasks, work) {
  const began = performance.now();
  await work();
  return { tasks, wallMs: performance.now() - began };
}
