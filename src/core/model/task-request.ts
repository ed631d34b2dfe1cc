import { z } from "zod";
import { assetId } from "./asset.ts";
import { jsonObject } from "./json.ts";

/** What a task may ask of an orchestrator. */
export const taskRequest = z.discriminatedUnion("action", [
  z.object({ action: z.literal("trigger_approval"), params: z.object(versionOf()) }),
  z.object({
    action: z.literal("approve"),
    params: z.object({
      ...versionOf(),
      clearance: z.enum(["ouo", "public"]),
      reviewer: z.string(),
      note: z.string().optional(),
    }),
  }),
  z.object({
    action: z.literal("reject"),
    params: z.object({ ...versionOf(), reason: z.string(), reviewer: z.string() }),
  }),
]);
export type TaskRequest = z.infer<typeof taskRequest>;

export const taskAnswer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), result: jsonObject }),
  z.object({ ok: z.literal(false), code: z.string(), message: z.string(), retry: z.boolean() }),
]);
export type TaskAnswer = z.infer<typeof taskAnswer>;

function versionOf() {
  return { asset_id: assetId, version_ordinal: z.number().int().min(0) };
}
