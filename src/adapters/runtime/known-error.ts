import type { JsonObject } from "../../core/model/json.ts";
import type { ErrorCategory } from "../../core/model/task.ts";

/**
 * What an adapter knows about its own failure: a stable code, and whether trying again can help. The
 * worker takes its word for it, so an adapter needs not know of workers.
 */
export abstract class KnownError extends Error {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly details: JsonObject | undefined;

  constructor(code: string, category: ErrorCategory, message: string, details?: JsonObject) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.category = category;
    this.details = details;
  }
}
