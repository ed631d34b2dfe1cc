import type { Json, JsonObject } from "./json.ts";
import { isJsonObject } from "./json.ts";
import { cleanText } from "./output.ts";

/** Stands in place of a secret. */
export const dots = "••••••••";

/** A shorter text is hidden only where it is the whole value: it would occur everywhere by chance. */
const shortest = 4;

/**
 * Replaces secret values by dots wherever they occur: in texts, also escaped as JSON or encoded for
 * an address, and as numbers. Booleans and null cannot be told from others, so they are hidden by the
 * name of their input or parameter alone.
 */
export class Mask {
  private readonly parts: readonly string[];
  private readonly wholes: ReadonlySet<string>;

  constructor(secrets: readonly Json[]) {
    const texts = new Set<string>();
    for (const secret of secrets) addTexts(secret, texts);
    const parts = new Set<string>();
    for (const text of texts) {
      if (text.length < shortest) continue;
      parts.add(text);
      parts.add(JSON.stringify(text).slice(1, -1));
      parts.add(encodeURIComponent(cleanText(text)));
    }
    this.wholes = texts;
    // The longest first, because one secret may be a part of another.
    this.parts = [...parts].sort((a, b) => b.length - a.length);
  }

  get isEmpty(): boolean {
    return this.wholes.size === 0;
  }

  text(text: string): string {
    if (this.wholes.has(text)) return dots;
    let masked = text;
    for (const part of this.parts) masked = masked.replaceAll(part, dots);
    return masked;
  }

  /** Answers the value itself where it holds no secret. */
  value<Value extends Json>(value: Value): Value {
    return (this.isEmpty ? value : this.any(value)) as Value;
  }

  /** Whether the value holds a secret. */
  occursIn(value: Json): boolean {
    return this.value(value) !== value;
  }

  private any(value: Json): Json {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.wholes.has(String(value)) ? dots : value;
    if (typeof value !== "object" || value === null) return value;
    const before = Object.entries(value as Record<string, Json>);
    const entries = before.map(([key, member]): [string, Json] => [
      this.text(key),
      this.any(member),
    ]);
    const isSame = entries.every(
      ([key, member], at) => key === before[at]?.[0] && member === before[at][1],
    );
    if (isSame) return value;
    return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
  }
}

function addTexts(secret: Json, texts: Set<string>): void {
  if (typeof secret === "string") {
    if (secret !== "") texts.add(secret);
  } else if (typeof secret === "number") texts.add(String(secret));
  else if (typeof secret === "object" && secret !== null) {
    for (const member of Object.values<Json>(secret)) addTexts(member, texts);
  }
}

/** Replaces these members of an object by dots. */
export function hideMembers(value: JsonObject, names: Iterable<string>): JsonObject {
  const hidden: Record<string, Json> = { ...value };
  for (const name of names) if (Object.hasOwn(hidden, name)) hidden[name] = dots;
  return hidden;
}

/** A parameter that is written as `{secret: true, value: …}`. */
export function isSecretParameter(value: unknown): value is { secret: true; value: Json } {
  return (
    isJsonObject(value) &&
    value["secret"] === true &&
    Object.hasOwn(value, "value") &&
    Object.keys(value).length === 2
  );
}
