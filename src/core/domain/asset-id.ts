import type { JsonObject } from "../model/json.ts";
import { canonicalJson } from "./canonical-json.ts";

/** In hex, of the text as UTF-8. Given, because core has no cryptography of its own. */
export type Sha256 = (text: string) => string;

/** Of the platform and what identifies the data set there; its version is no part of it. */
export function assetIdOf(platformId: string, identityRefs: JsonObject, sha256: Sha256): string {
  return sha256(`${platformId}|${canonicalJson(identityRefs)}`).slice(0, 32);
}
