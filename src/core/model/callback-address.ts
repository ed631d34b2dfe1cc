import { z } from "zod";
import { callbackUrl } from "./platform.ts";
import { callbackEventType } from "./request.ts";

export const callbackName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,62}$/, "must hold lower-case letters, digits, _ or -");

/** A further address of a platform, beside the one that its requests name. */
export const callbackAddressEdit = z.strictObject({
  url: callbackUrl,
  event_types: z.array(callbackEventType).max(16).default([]).describe("none: all of them"),
  is_active: z.boolean().default(true),
});
export type CallbackAddressEdit = z.output<typeof callbackAddressEdit>;

export interface CallbackAddress extends CallbackAddressEdit {
  readonly platform_id: string;
  readonly name: string;
  readonly secret_number: number;
  readonly secret_changed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}
