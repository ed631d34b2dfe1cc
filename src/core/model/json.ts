import { z } from "zod";

/** Parameters, outputs and events are JSON and nothing else. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
