import type { JsonObject } from "../../../src/core/model/json.ts";
import { isJsonObject } from "../../../src/core/model/json.ts";

/** What somebody wrote as a JSON object, or nothing while it is not one. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
