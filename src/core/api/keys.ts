import { z } from "zod";
import { moment } from "../model/moment.ts";
import { keyId, keyScope, platformId } from "../model/platform.ts";
import { defineContract } from "./contract.ts";
import { actor } from "./requests.ts";
import { page, timestamp } from "./schemas.ts";

const one = z.object({ key_id: keyId });

const apiKey = z
  .object({
    key_id: z.string(),
    platform_id: z.string(),
    name: z.string(),
    scopes: z.array(keyScope),
    created_at: timestamp,
    created_by: z.string(),
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    revoked_by: z.string().nullable(),
    rotated_from: z.string().nullable(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof apiKey>;

const newApiKey = z
  .object({ ...apiKey.shape, key: z.string().describe("shown only once and not stored") })
  .meta({ id: "NewApiKey" });

const listKeys = defineContract({
  id: "listKeys",
  method: "GET",
  path: "/api/v1/keys",
  access: "operate",
  summary: "API keys of platforms, the newest first; never the keys themselves.",
  query: z.strictObject({ platform_id: platformId.optional() }),
  response: page(apiKey),
  errors: ["BAD_REQUEST"],
});

const createKey = defineContract({
  id: "createKey",
  method: "POST",
  path: "/api/v1/keys",
  access: "operate",
  summary: "A new key of a platform.",
  body: z.strictObject({
    platform_id: platformId,
    name: z.string().min(1).max(100),
    scopes: z.array(keyScope).min(1).max(4),
    expires_at: moment.optional(),
    actor,
  }),
  response: newApiKey,
  status: 201,
  errors: ["TOO_MANY_KEYS", "BAD_REQUEST", "PLATFORM_NOT_FOUND"],
});

const rotateKey = defineContract({
  id: "rotateKey",
  method: "POST",
  path: "/api/v1/keys/{key_id}/rotate",
  access: "operate",
  summary: "Rotate a key: the old one stays valid for a while.",
  params: one,
  body: z
    .strictObject({
      grace_seconds: z.number().int().min(0).max(2_592_000).default(86_400),
      actor,
    })
    .prefault({}),
  response: newApiKey,
  status: 201,
  errors: ["TOO_MANY_KEYS", "BAD_REQUEST", "KEY_NOT_FOUND", "TRANSITION_REFUSED"],
});

const revokeKey = defineContract({
  id: "revokeKey",
  method: "POST",
  path: "/api/v1/keys/{key_id}/revoke",
  access: "operate",
  summary: "Revoke a key at once.",
  params: one,
  body: z.strictObject({ actor }).default({}),
  response: apiKey,
  errors: ["BAD_REQUEST", "KEY_NOT_FOUND"],
});

export const keyContracts = [listKeys, createKey, rotateKey, revokeKey] as const;
