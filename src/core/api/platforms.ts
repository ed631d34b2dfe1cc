import { z } from "zod";
import { platformEdit, platformId } from "../model/platform.ts";
import { defineContract } from "./contract.ts";
import { page, timestamp } from "./schemas.ts";

const one = z.object({ platform_id: platformId });

const platform = z
  .object({
    platform_id: z.string(),
    ...platformEdit.shape,
    secret_number: z.number().int(),
    secret_changed_at: timestamp.nullable(),
    row_version: z.number().int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Platform" });

const listPlatforms = defineContract({
  id: "listPlatforms",
  method: "GET",
  path: "/api/v1/platforms",
  access: "read",
  summary: "The platforms that may submit, by name.",
  response: page(platform),
  errors: ["UNAUTHENTICATED"],
});

const getPlatform = defineContract({
  id: "getPlatform",
  method: "GET",
  path: "/api/v1/platforms/{platform_id}",
  access: "read",
  summary: "One platform: what identifies its assets, and where callbacks may go.",
  params: one,
  response: platform,
  errors: ["PLATFORM_NOT_FOUND"],
});

const putPlatform = defineContract({
  id: "putPlatform",
  method: "PUT",
  path: "/api/v1/platforms/{platform_id}",
  access: "operate",
  summary: "Register a platform, or replace its registration: then with If-Match.",
  params: one,
  body: platformEdit,
  response: platform,
  also: { 201: "it is new" },
  errors: ["BAD_REQUEST", "PLATFORM_IN_USE", "EDIT_CONFLICT", "EDIT_NEEDS_MATCH"],
});

const callbackSecret = defineContract({
  id: "callbackSecret",
  method: "POST",
  path: "/api/v1/platforms/{platform_id}/callback-secret",
  access: "operate",
  summary: "The secret that callbacks are signed with; on request a new one.",
  params: one,
  body: z
    .strictObject({ rotate: z.boolean().default(false).describe("both secrets sign for a day") })
    .default({ rotate: false }),
  response: z
    .object({
      platform_id: z.string(),
      secret: z.string(),
      secret_number: z.number().int(),
      secret_changed_at: timestamp.nullable(),
    })
    .meta({ id: "CallbackSecret" }),
  errors: ["BAD_REQUEST", "PLATFORM_NOT_FOUND", "SWITCHED_OFF"],
});

export const platformContracts = [listPlatforms, getPlatform, putPlatform, callbackSecret] as const;
