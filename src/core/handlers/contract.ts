import type { z } from "zod";

/** What a workflow may rely on without knowing who runs it: checked at load, kept by the worker. */
export interface HandlerContract {
  readonly name: string;
  readonly description: string;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  /** Where a task goes that names no queue of its own. */
  readonly queue: string;
  /** Time of one attempt for a task that names none. */
  readonly timeout_seconds: number;
}

/** Keeps the exact schema types, so that the worker's handler is typed by its own contract. */
export function defineContract<const Contract extends HandlerContract>(
  contract: Contract,
): Contract {
  return contract;
}
