/**
 * Jobs, one after the other, that a cell runs before it is measured. Latencies are those of a
 * service that has been running for a while: its code is compiled, its plans are made. After 200 jobs
 * V8 was still compiling: a job of ours took 7 ms of CPU then, and 5.5 after 1,000 (graphile-worker 5.8 and 5.2).
 */
export const warmUpJobs = (workload) => (workload === "W1" || workload === "W2" ? 1000 : 10);
