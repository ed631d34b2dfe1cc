import type { JsonObject } from "../../../core/model/json.ts";
import { PermanentError } from "../../errors.ts";

/** The file cannot become a layer; the message says why and what would help. */
export function refuse(code: string, message: string, details?: JsonObject): PermanentError {
  return new PermanentError(message, details === undefined ? { code } : { code, details });
}
