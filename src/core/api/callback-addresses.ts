import { z } from "zod";
import { callbackAddressEdit, callbackName } from "../model/callback-address.ts";
import { platformId } from "../model/platform.ts";
import { defineContract } from "./contract.ts";
import { page, timestamp } from "./schemas.ts";

const one = z.object({ platform_id: platformId, name: callbackName });

const address = z
  .object({
    platform_id: z.string(),
    name: z.string(),
    ...callbackAddressEdit.shape,
    secret_number: z.number().int(),
    secret_changed_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "CallbackAddress" });

const listCallbackAddresses = defineContract({
  id: "listCallbackAddresses",
  method: "GET",
  path: "/api/v1/callback-addresses",
  access: "read",
  summary: "Further addresses for the callbacks of platforms, by platform and name.",
  query: z.strictObject({ platform_id: platformId.optional() }),
  response: page(address),
  errors: ["BAD_REQUEST"],
});

const putCallbackAddress = defineContract({
  id: "putCallbackAddress",
  method: "PUT",
  path: "/api/v1/platforms/{platform_id}/callbacks/{name}",
  access: "operate",
  summary: "Send callbacks of a platform to one more address, on a host of its list.",
  params: one,
  body: callbackAddressEdit,
  response: address,
  errors: ["BAD_REQUEST", "PLATFORM_NOT_FOUND"],
});

const deleteCallbackAddress = defineContract({
  id: "deleteCallbackAddress",
  method: "DELETE",
  path: "/api/v1/platforms/{platform_id}/callbacks/{name}",
  access: "operate",
  summary: "Send no more callbacks to an address; those that wait fail.",
  params: one,
  response: z.object({ deleted: z.boolean() }).meta({ id: "CallbackAddressDeleted" }),
  errors: ["NOT_FOUND"],
});

const callbackAddressSecret = defineContract({
  id: "callbackAddressSecret",
  method: "POST",
  path: "/api/v1/platforms/{platform_id}/callbacks/{name}/secret",
  access: "operate",
  summary: "The secret of this address; on request a new one.",
  params: one,
  body: z
    .strictObject({ rotate: z.boolean().default(false).describe("both secrets sign for a day") })
    .default({ rotate: false }),
  response: z
    .object({
      platform_id: z.string(),
      name: z.string(),
      secret: z.string(),
      secret_number: z.number().int(),
      secret_changed_at: timestamp.nullable(),
    })
    .meta({ id: "CallbackAddressSecret" }),
  errors: ["BAD_REQUEST", "NOT_FOUND", "SWITCHED_OFF"],
});

export const callbackAddressContracts = [
  listCallbackAddresses,
  putCallbackAddress,
  deleteCallbackAddress,
  callbackAddressSecret,
] as const;
