import type { Json, JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";

/** A change by a part of a document, as RFC 7386 defines it: null removes a member. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map<string, Json>(Object.entries(isJsonObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  const document: JsonObject = Object.fromEntries(merged);
  return document;
}
