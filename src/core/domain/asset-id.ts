import type { JsonObject, Json } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";

/**
 * Returns the digest in hex of the text as UTF-8. Callers pass it in, because core has no
 * cryptography.
 */
export type Sha256 = (text: string) => string;

/**
 * Makes an asset's id from its platform and the references that identify the data set there; the
 * version is not a part of it.
 */
export function assetIdOf(platformId: string, identityRefs: JsonObject, sha256: Sha256): string {
  return sha256(`${platformId}|${canonicalJson(identityRefs)}`).slice(0, 32);
}

/**
 * Writes JSON as Python's `json.dumps(value, sort_keys=True)` does, byte for byte: the existing
 * platform made its ids from that text, and the ids must be the same here.
 *
 * Python keeps integers and floats apart, and JavaScript's parser does not: `1` and `1.0`, `-0` and
 * `-0.0`, `10000000000000000` and `1e16` arrive as one number. A safe whole number is taken as
 * Python's integer. Every other whole number, and minus zero, is refused, because we cannot know
 * which text the platform hashed; a platform must send such a reference as text.
 */

export function canonicalJson(value: Json): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return pythonNumber(value);
  if (typeof value === "string") return pythonText(value);
  if (!isJsonObject(value)) return `[${value.map(canonicalJson).join(", ")}]`;
  const members = Object.entries(value)
    .sort(([a], [b]) => compareCodePoints(a, b))
    .map(([key, member]) => `${pythonText(key)}: ${canonicalJson(member)}`);
  return `{${members.join(", ")}}`;
}

/** JSON pointers to the numbers whose canonical form cannot be known. */
export function ambiguousNumbers(value: Json, pointer = ""): string[] {
  if (typeof value === "number") return isKnown(value) ? [] : [pointer];
  if (typeof value !== "object" || value === null) return [];
  const members = Object.entries(value as JsonObject);
  return members.flatMap(([key, member]) =>
    ambiguousNumbers(member, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}

function isKnown(value: number): boolean {
  if (Object.is(value, -0) || !Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !Number.isInteger(value);
}

/** Both languages write the fewest digits that read back the same; they differ in the exponent. */
function pythonNumber(value: number): string {
  if (!isKnown(value)) throw new RangeError(`${value} has no certain form in Python`);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  if (Number(exponent) >= -4) return String(value);
  return `${digits}e-${String(-Number(exponent)).padStart(2, "0")}`;
}

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function pythonText(text: string): string {
  // By code unit, so that characters beyond the basic plane are written as their two halves.
  const escaped = text.replace(/["\\]|[^ -~]/g, (unit) => {
    if (Object.hasOwn(short, unit)) return short[unit] ?? "";
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}

/** JavaScript sorts by code unit, which puts U+10000 before U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
