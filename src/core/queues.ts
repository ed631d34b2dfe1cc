/** What each queue is for; the configuration may declare others beside them. */
export const queueFor = {
  light: "functionapp-tasks",
  heavy: "container-tasks",
  general: "dag-worker-tasks",
} as const;

/** The queues that tasks may be sent to by default. */
export const taskQueues: readonly string[] = Object.values(queueFor);

/** Submitted jobs wait here for an orchestrator; never a task queue. */
export const jobQueue = "dag-jobs";
