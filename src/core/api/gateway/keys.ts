import { z } from "zod";
import { moment } from "../../model/moment.ts";
import { keyId, keyScope } from "../../model/platform.ts";
import { callbackEventType, deliveryState, requestId } from "../../model/request.ts";
import { defineContract } from "../contract.ts";
import { count, page, paging, timestamp } from "../schemas.ts";

const partnerKey = z
  .object({
    key_id: z.string(),
    name: z.string(),
    scopes: z.array(keyScope),
    created_at: timestamp,
    created_by: z.string(),
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    rotated_from: z.string().nullable(),
  })
  .meta({ id: "PartnerKey" });

export const newPartnerKey = z
  .object({ ...partnerKey.shape, key: z.string().describe("shown only once and not stored") })
  .meta({ id: "NewPartnerKey" });

const one = z.object({ key_id: keyId });

const platformKeys = defineContract({
  id: "platformKeys",
  method: "GET",
  path: "/api/platform/keys",
  access: "admin",
  summary: "The keys of your platform, the newest first; never the keys themselves.",
  response: page(partnerKey),
  errors: ["UNAVAILABLE"],
});

const platformCreateKey = defineContract({
  id: "platformCreateKey",
  method: "POST",
  path: "/api/platform/keys",
  access: "admin",
  summary: "A new key of your platform.",
  body: z.strictObject({
    name: z.string().min(1).max(100),
    scopes: z.array(keyScope).min(1).max(4),
    expires_at: moment.optional(),
  }),
  response: newPartnerKey,
  status: 201,
  errors: ["TOO_MANY_KEYS", "BAD_REQUEST", "UNAVAILABLE"],
});

const platformRotateKey = defineContract({
  id: "platformRotateKey",
  method: "POST",
  path: "/api/platform/keys/{key_id}/rotate",
  access: "admin",
  summary: "Rotate a key: the old one stays valid for a while.",
  params: one,
  body: z
    .strictObject({ grace_seconds: z.number().int().min(0).max(2_592_000).default(86_400) })
    .prefault({}),
  response: newPartnerKey,
  status: 201,
  errors: ["TOO_MANY_KEYS", "BAD_REQUEST", "KEY_NOT_FOUND", "TRANSITION_REFUSED", "UNAVAILABLE"],
});

const platformRevokeKey = defineContract({
  id: "platformRevokeKey",
  method: "POST",
  path: "/api/platform/keys/{key_id}/revoke",
  access: "admin",
  summary: "Revoke a key; the gateway refuses it within a second.",
  params: one,
  response: partnerKey,
  errors: ["KEY_NOT_FOUND", "UNAVAILABLE"],
});

const platformCallbackSecret = defineContract({
  id: "platformCallbackSecret",
  method: "POST",
  path: "/api/platform/callback-secret",
  access: "admin",
  summary: "The secret that your callbacks are signed with; on request a new one.",
  body: z
    .strictObject({ rotate: z.boolean().default(false).describe("both secrets sign for a day") })
    .prefault({}),
  response: z.object({ secret: z.string() }).meta({ id: "PartnerSecret" }),
  errors: ["BAD_REQUEST", "SWITCHED_OFF", "UNAVAILABLE"],
});

const partnerDelivery = z
  .object({
    event_id: z.string(),
    request_id: z.string(),
    event_type: callbackEventType,
    url: z.string(),
    state: deliveryState,
    attempts: count,
    next_attempt_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    last_error: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: "PartnerDelivery" });

const platformDeliveries = defineContract({
  id: "platformDeliveries",
  method: "GET",
  path: "/api/platform/deliveries",
  access: "read",
  summary: "Callbacks to your platform, the newest first.",
  query: z.strictObject({
    request_id: requestId.optional(),
    state: deliveryState.optional(),
    ...paging,
  }),
  response: page(partnerDelivery),
  errors: ["BAD_REQUEST"],
});

const platformRedeliver = defineContract({
  id: "platformRedeliver",
  method: "POST",
  path: "/api/platform/deliveries/{event_id}/redeliver",
  access: "submit",
  summary: "Send a callback again: the same event with the same id.",
  params: z.object({ event_id: z.string().min(1).max(80) }),
  response: partnerDelivery,
  errors: ["DELIVERY_NOT_FOUND", "UNAVAILABLE"],
});

export const partnerKeyContracts = [
  platformKeys,
  platformCreateKey,
  platformRotateKey,
  platformRevokeKey,
  platformCallbackSecret,
  platformDeliveries,
  platformRedeliver,
] as const;
