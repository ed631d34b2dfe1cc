import type { z } from "zod";
import type { JsonObject } from "../model/json.ts";
import type { RetryPolicy } from "../model/workflow.ts";

/**
 * A handler's contract: workflows are checked against it when they are loaded, and the worker keeps
 * it. `ContractData` is the same as data, for other programs and languages.
 */
export interface HandlerContract {
  readonly name: string;
  readonly description: string;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  /** The queue of a task that names none. */
  readonly queue: string;
  /** The timeout of one attempt of a task that names none. */
  readonly timeout_seconds: number;
  /** The retries of a task that names none. */
  readonly retry?: RetryPolicy | undefined;
  readonly examples?: readonly HandlerExample[] | undefined;
}

export interface HandlerExample {
  readonly description?: string | undefined;
  readonly params: JsonObject;
  readonly result?: JsonObject | undefined;
}

/** Keeps the exact schema types, so that the worker's handler is typed by its own contract. */
export function defineContract<const Contract extends HandlerContract>(
  contract: Contract,
): Contract {
  return contract;
}
