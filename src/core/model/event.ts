import { z } from "zod";

/**
 * Everything that happens to a job is recorded as an event, in the transaction of the change.
 * Replaying a job's events from the first gives its stored state; `seq` has no gaps within a job.
 */
export const eventType = z.enum([
  "job_created",
  "job_started",
  "job_paused",
  "job_resumed",
  "job_cancel_requested",
  "job_completed",
  "job_failed",
  "job_cancelled",
  "job_claimed",
  "node_ready",
  "node_dispatched",
  "node_running",
  "node_expanded",
  "node_released",
  "node_completed",
  "node_retry",
  "node_failed",
  "node_skipped",
  "node_cancelled",
  "result_ignored",
  "checkpoint_saved",
  "command",
]);
export type EventType = z.infer<typeof eventType>;

export const eventStatus = z.enum(["info", "success", "warning", "error"]);
export type EventStatus = z.infer<typeof eventStatus>;
