import { z } from "zod";
import type { StateMachine } from "./transitions.ts";

export const jobStatus = z.enum(["pending", "running", "completed", "failed", "cancelled"]);
export type JobStatus = z.infer<typeof jobStatus>;

export const jobMachine: StateMachine<JobStatus> = {
  name: "job",
  initial: "pending",
  transitions: {
    pending: {
      running: "first node settled or dispatched",
      cancelled: "cancelled by a user",
    },
    running: {
      completed: "every node settled, none failed",
      failed: "a node failed for good",
      cancelled: "cancelled by a user",
    },
    completed: {},
    failed: {},
    cancelled: {},
  },
};

/** Terminal job states never change. */
export function isFinished(status: JobStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
