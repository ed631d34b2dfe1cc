import type { JsonObject } from "../core/model/json.ts";
import type { ErrorCategory } from "../core/model/task.ts";

export interface HandlerErrorOptions {
  /** A stable name for programs, such as `NO_CRS`. */
  readonly code?: string;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** What a handler throws when it knows better than the classification of unknown errors. */
export abstract class HandlerError extends Error {
  abstract readonly category: ErrorCategory;
  readonly code: string;
  readonly details: JsonObject | undefined;

  constructor(message: string, defaultCode: string, options: HandlerErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code ?? defaultCode;
    this.details = options.details;
  }
}

/** Trying again cannot help: the input is wrong, or the request makes no sense. */
export class PermanentError extends HandlerError {
  readonly category = "permanent";

  constructor(message: string, options?: HandlerErrorOptions) {
    super(message, "PERMANENT", options);
  }
}

/** It may work the next time; costs one of the node's retries. */
export class TransientError extends HandlerError {
  readonly category = "transient";

  constructor(message: string, options?: HandlerErrorOptions) {
    super(message, "TRANSIENT", options);
  }
}

/** The other side asks for patience; has a budget of its own and costs no retry. */
export class ThrottlingError extends HandlerError {
  readonly category = "throttling";

  constructor(
    message: string,
    options: HandlerErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    const { retryAfterSeconds, details } = options;
    const asked = retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds };
    super(message, "THROTTLED", { ...options, details: { ...details, ...asked } });
  }
}
