import { z } from "zod";
import type { JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import { retryPolicy } from "../model/workflow.ts";
import { queueFor } from "../queues.ts";
import type { HandlerContract } from "./contract.ts";

/** A name such as `acme.ndvi`: parts of letters, digits, `_` and `-`, joined by dots. */
export const handlerName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][\w-]*(\.[A-Za-z0-9][\w-]*)*$/, "must be a name such as acme.ndvi");

export const queueName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,49}$/, "must be 1 to 50 letters, digits or . _ -");

/** Parsed from a JSON text; the checker of schemas judges what it means. */
const schema = z
  .custom<JsonObject>(isJsonObject, "must be a JSON Schema, an object")
  .meta({ type: "object" });
const jsonObject = z
  .custom<JsonObject>(isJsonObject, "must be a JSON object")
  .meta({ type: "object" });

/** A contract as data: what a worker registers, and what other programs read. */
export const contractData = z.strictObject({
  name: handlerName,
  description: z.string().max(4096).default(""),
  params: schema.default({ type: "object" }).describe("JSON Schema of the parameters"),
  result: schema.default({ type: "object" }).describe("JSON Schema of the result"),
  queue: queueName.default(queueFor.general).describe("the queue of a task that names none"),
  timeout_seconds: z.number().positive().max(604_800).default(300),
  retry: retryPolicy.optional().describe("the retries of a task that names none"),
  examples: z
    .array(
      z.strictObject({
        description: z.string().max(1024).optional(),
        params: jsonObject,
        result: jsonObject.optional(),
      }),
    )
    .max(20)
    .default([]),
});
export type ContractData = z.output<typeof contractData>;

/** A contract that came as data: its schemas cannot be described from their code. */
export interface DataContract extends HandlerContract {
  readonly data: ContractData;
}

/** Describes a contract as data. What a schema checks by code alone is not in it. */
export function describeContract(contract: HandlerContract | DataContract): ContractData {
  if ("data" in contract) return contract.data;
  const { name, description, queue, timeout_seconds, retry, examples } = contract;
  return {
    name,
    description,
    params: toSchema(contract.params, "input"),
    result: toSchema(contract.result, "output"),
    queue,
    timeout_seconds,
    ...(retry === undefined ? {} : { retry }),
    examples: (examples ?? []).map(({ description: text, params, result }) => ({
      ...(text === undefined ? {} : { description: text }),
      params,
      ...(result === undefined ? {} : { result }),
    })),
  };
}

function toSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const made = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  const plain = JSON.parse(JSON.stringify(made)) as JsonObject;
  return Object.fromEntries(Object.entries(plain).filter(([key]) => key !== "$schema"));
}

const reservedPrefixes = ["raster.", "stac.", "vector", "export"] as const;

/** Says why a handler from outside may not have this name; undefined: it may. */
export function whyReserved(name: string, shipped: ReadonlySet<string>): string | undefined {
  if (shipped.has(name)) return `"${name}" is the name of a handler that ships with rmhdag`;
  const prefix = reservedPrefixes.find((each) => name.startsWith(each));
  return prefix && `names that start with "${prefix}" are reserved for handlers of rmhdag`;
}
