import type { z } from "zod";

/**
 * A handler's contract: workflows are checked against it when they are loaded, and the worker keeps
 * it.
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
}

/** Keeps the exact schema types, so that the worker's handler is typed by its own contract. */
export function defineContract<const Contract extends HandlerContract>(
  contract: Contract,
): Contract {
  return contract;
}
