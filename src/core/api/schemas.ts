import { z } from "zod";
import { integer } from "../model/integer.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";

export { integer } from "../model/integer.ts";

/*
 * Building blocks of the contracts. Bodies were parsed from JSON text, so the schemas do not check
 * again that a value is JSON: checking a body of megabytes value by value would cost time, and a
 * recursive schema could overflow the stack.
 */

export const json = z.unknown().meta({ id: "Json", description: "any JSON value" }) as z.ZodType<
  Json,
  Json
>;

export const object = z
  .custom<JsonObject>(isJsonObject, "must be a JSON object")
  .meta({ id: "JsonObject", type: "object", description: "any JSON object" });

export const timestamp = z.iso.datetime();

export const jobId = z.string().min(1).max(64);
export const nodeId = z.string().min(1).max(80);

export const count = z.number().int().min(0);

export const paging = {
  limit: integer(1, 500).prefault(50).describe("how many items at most"),
  cursor: z.string().max(512).optional().describe("the `next_cursor` of the page before"),
};

/** Every list has this form; `next_cursor` is null on the last page. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next_cursor: z.string().nullable() });
}

/** RFC 9457, the form of every refusal. */
export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    instance: z.string().describe("the request's id, as in x-request-id"),
    errors: z.array(z.object({ pointer: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: "Problem", description: "a refusal, RFC 9457" });
export type ProblemBody = z.infer<typeof problem>;
