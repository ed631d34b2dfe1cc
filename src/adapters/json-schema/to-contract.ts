import { z } from "zod";
import type { ContractData, DataContract } from "../../core/handlers/contract-data.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { compileSchema } from "./check-schema.ts";

/**
 * Makes a contract of its data: the schemas are checked by the rules of JSON Schema behind zod's
 * interface, so that shipped handlers and those from outside take the same path. Throws `BadSchema`.
 */
export function toContract(data: ContractData): DataContract {
  const { name, description, queue, timeout_seconds, retry, examples } = data;
  return {
    name,
    description,
    params: toZod(data.params),
    result: toZod(data.result),
    queue,
    timeout_seconds,
    retry,
    examples,
    data,
  };
}

function toZod(schema: JsonObject): z.ZodType {
  const check = compileSchema(schema);
  return z.unknown().transform((given, context) => {
    const { value, issues } = check(given);
    for (const issue of issues) context.issues.push(issue);
    return issues.length > 0 ? z.NEVER : value;
  });
}
