/** The purpose of each default queue; the configuration may declare more. */
export const queueFor = {
  light: "functionapp-tasks",
  heavy: "container-tasks",
  general: "dag-worker-tasks",
} as const;

/** The queues that tasks may be sent to by default. */
export const taskQueues: readonly string[] = Object.values(queueFor);

/** The queue of submitted jobs, which orchestrators consume; tasks are never sent to it. */
export const jobQueue = "dag-jobs";
