/**
 * What modules of handlers import: `import { defineHandler, z } from "rmhdagmaster/worker"`. The worker
 * gives modules that it loads its own copy of all this, so that errors are recognised.
 */
import { z } from "zod";
import { contractData } from "../core/handlers/contract-data.ts";
import { retryPolicy } from "../core/model/workflow.ts";
import type { HandlerExample } from "../core/handlers/contract.ts";
import type { Handler, HandlerContext } from "./define-handler.ts";

export { z } from "zod";
export { PermanentError, ThrottlingError, TransientError } from "./errors.ts";
export type { Handler, HandlerContext } from "./define-handler.ts";

export interface HandlerDefinition<Params extends z.ZodType, Result extends z.ZodType> {
  /** Such as `acme.ndvi`. Names of shipped handlers and their prefixes are reserved. */
  readonly name: string;
  readonly description?: string;
  readonly params: Params;
  /** Any object by default. */
  readonly result?: Result;
  /** `dag-worker-tasks` by default. */
  readonly queue?: string;
  /** Of one attempt; 300 by default. */
  readonly timeout_seconds?: number;
  readonly retry?: z.input<typeof retryPolicy>;
  readonly examples?: readonly HandlerExample[];
  /**
   * Parameters that `run` reads with `context.stream(name)`, because their values are large. Declare them
   * as `z.unknown()`: in `params` such a value may be a reference to storage.
   */
  readonly streams?: readonly (keyof z.output<Params> & string)[];
  readonly run: (
    params: z.output<Params>,
    context: HandlerContext,
  ) => Promise<z.input<Result>> | z.input<Result>;
}

/** Makes a handler that a worker loads: `rmhdag worker --handlers DIR`. */
export function defineHandler<
  Params extends z.ZodType,
  Result extends z.ZodType = z.ZodRecord<z.ZodString, z.ZodUnknown>,
>(definition: HandlerDefinition<Params, Result>): Handler {
  const { name, description, params, queue, timeout_seconds, retry, examples, streams, run } =
    definition;
  const result: z.ZodType = definition.result ?? z.record(z.string(), z.unknown());
  const facts = contractData
    .pick({ name: true, description: true, queue: true, timeout_seconds: true })
    .parse({ name, description, queue, timeout_seconds });
  return {
    contract: {
      ...facts,
      params,
      result,
      ...(retry === undefined ? {} : { retry: retryPolicy.parse(retry) }),
      examples,
    },
    streams,
    run: async (given, context) => run(given as z.output<Params>, context),
  };
}
