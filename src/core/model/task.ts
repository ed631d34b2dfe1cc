import { z } from "zod";
import type { StateMachine } from "./transitions.ts";
import { jsonObject } from "./json.ts";

export const taskStatus = z.enum(["running", "completed", "failed", "cancelled"]);
export type TaskStatus = z.infer<typeof taskStatus>;

export const taskMachine: StateMachine<TaskStatus> = {
  name: "task",
  initial: "running",
  transitions: {
    running: {
      completed: "handler returned",
      failed: "handler threw",
      cancelled: "stop requested",
    },
    completed: {},
    failed: {},
    cancelled: {},
  },
};

/**
 * permanent: no retry. transient: uses the node's retry budget. throttling: has a budget of its
 * own.
 */
export const errorCategory = z.enum(["permanent", "transient", "throttling"]);
export type ErrorCategory = z.infer<typeof errorCategory>;

export const taskError = z.object({
  code: z.string().min(1).max(64),
  message: z.string().max(8192),
  category: errorCategory,
  details: jsonObject.optional(),
});
export type TaskError = z.infer<typeof taskError>;

/** The code of a task whose worker died of it: it ran nothing else. */
export const workerCrashed = "WORKER_CRASHED";
/** The code of a task whose message the broker gave up. */
export const deadLettered = "DEAD_LETTERED";

/** The next attempt must not take the tasks of its neighbours along. */
export function runsAlone(last: TaskError | undefined): boolean {
  return last?.code === workerCrashed || last?.code === deadLettered;
}
