import type { JsonObject } from "../core/model/json.ts";
import type { ErrorCategory } from "../core/model/task.ts";

export interface HandlerErrorOptions {
  /** A stable name for programs, such as `NO_CRS`. */
  readonly code?: string;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** Thrown by a handler that knows the category itself; other errors go through `classifyError`. */
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

/** A retry cannot help: the input is wrong, or the request makes no sense. */
export class PermanentError extends HandlerError {
  readonly category = "permanent";

  constructor(message: string, options?: HandlerErrorOptions) {
    super(message, "PERMANENT", options);
  }
}

/** A retry may help, and counts as one of the node's retries. */
export class TransientError extends HandlerError {
  readonly category = "transient";

  constructor(message: string, options?: HandlerErrorOptions) {
    super(message, "TRANSIENT", options);
  }
}

/** A service asks to be called later; counted by a separate budget and not as a retry. */
export class ThrottlingError extends HandlerError {
  readonly category = "throttling";

  constructor(
    message: string,
    options: HandlerErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    const { retryAfterSeconds, details } = options;
    const wait = retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds };
    super(message, "THROTTLED", { ...options, details: { ...details, ...wait } });
  }
}
