import { z } from "zod";

/** The id by which a platform knows its work. Platforms never see job ids. */
export const requestId = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, "must hold 1 to 64 letters, digits, _ . or -");

export const requestKind = z.enum(["submit", "resubmit", "reprocess"]);
export type RequestKind = z.infer<typeof requestKind>;

export const requestStatus = z.enum(["pending", "running", "completed", "failed", "cancelled"]);
export type RequestStatus = z.infer<typeof requestStatus>;

/** What a job does for a version of an asset. */
export const jobPurpose = z.enum(["process", "export", "withdraw", "unpublish"]);
export type JobPurpose = z.infer<typeof jobPurpose>;

export const deliveryState = z.enum(["pending", "delivered", "exhausted"]);
export type DeliveryState = z.infer<typeof deliveryState>;

export const callbackEventType = z.enum([
  "processing.completed",
  "processing.failed",
  "processing.cancelled",
  "export.completed",
  "export.failed",
  "job.completed",
  "job.failed",
  "job.cancelled",
]);
export type CallbackEventType = z.infer<typeof callbackEventType>;
