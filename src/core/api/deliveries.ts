import { z } from "zod";
import { callbackEventType, deliveryState, requestId } from "../model/request.ts";
import { platformId } from "../model/platform.ts";
import { defineContract } from "./contract.ts";
import { count, jobId, object, page, paging, timestamp } from "./schemas.ts";

const one = z.object({ event_id: z.string().min(1).max(80) });

const delivery = z
  .object({
    event_id: z.string(),
    platform_id: z.string().nullable(),
    request_id: z.string().nullable(),
    job_id: z.string().nullable().describe("of a job that no platform's request asked for"),
    event_type: callbackEventType,
    url: z.string(),
    state: deliveryState,
    attempts: count,
    next_attempt_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    last_error: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: "Delivery" });
export type Delivery = z.infer<typeof delivery>;

const deliveryDetail = z
  .object({
    ...delivery.shape,
    body: object,
    log: z.array(
      z.object({
        attempt: count,
        status_code: z.number().int().nullable(),
        error: z.string().nullable(),
        duration_ms: count,
        attempted_at: timestamp,
      }),
    ),
  })
  .meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.infer<typeof deliveryDetail>;

const listDeliveries = defineContract({
  id: "listDeliveries",
  method: "GET",
  path: "/api/v1/deliveries",
  access: "read",
  summary: "Callbacks, the newest first.",
  query: z.strictObject({
    platform_id: platformId.optional(),
    request_id: requestId.optional(),
    job_id: jobId.optional(),
    state: deliveryState.optional(),
    ...paging,
  }),
  response: page(delivery),
  errors: ["BAD_REQUEST"],
});

const getDelivery = defineContract({
  id: "getDelivery",
  method: "GET",
  path: "/api/v1/deliveries/{event_id}",
  access: "read",
  summary: "One callback with its body and every attempt.",
  params: one,
  response: deliveryDetail,
  errors: ["DELIVERY_NOT_FOUND"],
});

const redeliver = defineContract({
  id: "redeliver",
  method: "POST",
  path: "/api/v1/deliveries/{event_id}/redeliver",
  access: "operate",
  summary: "Send a callback again: the same event with the same id.",
  params: one,
  response: deliveryDetail,
  errors: ["DELIVERY_NOT_FOUND"],
});

const jobCallbackSecret = defineContract({
  id: "jobCallbackSecret",
  method: "POST",
  path: "/api/v1/callback-secret",
  access: "operate",
  summary: "The secret that signs callbacks of jobs without a platform's request.",
  response: z.object({ secret: z.string() }).meta({ id: "JobCallbackSecret" }),
  errors: ["SWITCHED_OFF"],
});

export const deliveryContracts = [
  listDeliveries,
  getDelivery,
  redeliver,
  jobCallbackSecret,
] as const;
