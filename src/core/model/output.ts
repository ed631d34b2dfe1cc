/**
 * Checks the output of a handler before it is stored. JavaScript allows values that JSON or the
 * database refuse or drop in silence; here they are refused with a message that names them and
 * their place.
 */
import { valueLimits } from "./limits.ts";
import type { TaskError } from "./task.ts";

export interface OutputLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

const outputLimits: OutputLimits = { maxBytes: valueLimits.output, maxDepth: valueLimits.depth };

export type CheckedOutput =
  | { readonly ok: true; readonly json: string; readonly bytes: number }
  | { readonly ok: false; readonly error: TaskError };

export function checkOutput(value: unknown, limits: OutputLimits = outputLimits): CheckedOutput {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid(`A handler must return a JSON object, and this one returned ${nameOf(value)}.`);
  }
  let finding: string | TooLarge | undefined;
  let json: string | undefined;
  try {
    finding = findBad(value, { parents: [], keys: [] }, { visited: 0 }, limits);
    if (finding === undefined) json = JSON.stringify(value);
  } catch (error) {
    // A getter threw, or the text is longer than a string can be.
    finding = error instanceof RangeError ? tooLarge : `it could not be read: ${String(error)}`;
  }
  if (finding === tooLarge) return largerThan(limits, undefined);
  if (finding !== undefined || json === undefined) {
    return invalid(`The output is not valid JSON data: ${String(finding)}.`);
  }
  // A character takes at least one byte, so most sizes need no exact count.
  const bytes = json.length > limits.maxBytes ? json.length : utf8Length(json);
  return bytes > limits.maxBytes ? largerThan(limits, bytes) : { ok: true, json, bytes };
}

const tooLarge = Symbol("too large");
type TooLarge = typeof tooLarge;

/** Text that UTF-8 or PostgreSQL cannot hold: NUL, or a surrogate without its other half. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const unstorable = /\u0000|\p{Surrogate}/u;

/** `path` leads to `value`; it is turned into text only for a message. */
function findBad(
  value: unknown,
  path: Path,
  budget: { visited: number },
  limits: OutputLimits,
): string | TooLarge | undefined {
  // The same object may be reached along several paths, and its text doubles with each level.
  if (++budget.visited > limits.maxBytes) return tooLarge;
  switch (typeof value) {
    case "boolean":
      return undefined;
    case "string":
      return unstorable.test(value)
        ? `the text ${at(path)} contains a NUL character or half of a surrogate pair`
        : undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${value} ${at(path)} is not a JSON number`;
    case "object":
      break;
    default:
      return `${nameOf(value)} ${at(path)} is not JSON`;
  }
  if (value === null) return undefined;
  const { parents, keys } = path;
  if (parents.includes(value)) return `the object ${at(path)} contains itself`;
  if (parents.length >= limits.maxDepth) {
    return `it is nested deeper than ${limits.maxDepth} levels ${at(path).slice(0, 200)}`;
  }
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return `${nameOf(value)} ${at(path)} is not a plain object`;
  if (Object.hasOwn(value, "toJSON")) return `the object ${at(path)} has a toJSON of its own`;
  parents.push(value);
  // Not Object.entries: it skips the holes of an array, which JSON would fill with null.
  for (const key of isArray ? value.keys() : Object.keys(value)) {
    if (typeof key === "string" && unstorable.test(key)) {
      return `a key of the object ${at(path)} contains a NUL character or half of a surrogate pair`;
    }
    keys.push(key);
    const child = (value as Record<string | number, unknown>)[key];
    const bad = findBad(child, path, budget, limits);
    if (bad !== undefined) return bad;
    keys.pop();
  }
  parents.pop();
  return undefined;
}

interface Path {
  readonly parents: object[];
  readonly keys: (string | number)[];
}

function at({ keys }: Path): string {
  return `at "${keys.map((key) => `/${escapeKey(String(key))}`).join("")}"`;
}

function escapeKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object";
}

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ascii = /^[\u0000-\u007f]*$/;

function utf8Length(text: string): number {
  // Most outputs are ASCII, whose length needs no encoding.
  if (ascii.test(text)) return text.length;
  return new TextEncoder().encode(text).length;
}

function invalid(message: string): CheckedOutput {
  const cleaned = cleanText(message).slice(0, 2000);
  return { ok: false, error: { code: "OUTPUT_INVALID", message: cleaned, category: "permanent" } };
}

function largerThan({ maxBytes }: OutputLimits, bytes: number | undefined): CheckedOutput {
  const size = bytes === undefined ? `more than ${maxBytes}` : `${bytes}`;
  const message =
    `The output has ${size} bytes, and the limit is ${maxBytes} bytes. ` +
    "Write large data to storage and return where it is.";
  return { ok: false, error: { code: "OUTPUT_TOO_LARGE", message, category: "permanent" } };
}

/** Replaces characters that the database refuses, for error messages, which come from anywhere. */
export function cleanText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd").replaceAll("\0", "\ufffd");
}
