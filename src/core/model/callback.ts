import { z } from "zod";

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
