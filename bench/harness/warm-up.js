/**
 * Jobs, one after the other, that a cell runs before it is measured. Latencies are those of a
 * service that has been running for a while: its code is compiled, its plans are made.
 */
export const warmUpJobs = (workload) => (workload === "W1" || workload === "W2" ? 200 : 10);
