import type { JsonObject } from "../../core/model/json.ts";
import type { ErrorCategory } from "../../core/model/task.ts";

/**
 * A failure that an adapter has classified: a stable code, and whether a retry can help. The worker
 * reports both as they are.
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
