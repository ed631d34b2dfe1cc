/** Queues that tasks may be sent to unless the configuration declares others. */
export const taskQueues = {
  light: "functionapp-tasks",
  heavy: "container-tasks",
  general: "dag-worker-tasks",
} as const;

export const defaultTaskQueues: ReadonlySet<string> = new Set(Object.values(taskQueues));

/** Submitted jobs wait here for an orchestrator; never a task queue. */
export const jobQueue = "dag-jobs";
