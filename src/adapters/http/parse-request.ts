import type { z } from "zod";
import type { Contract } from "../../core/api/contract.ts";
import type { ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";

export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Pointers lead into the body; those into the address start with /params or /query. */
const parts = { params: "/params", query: "/query", body: "" } as const;

/** Throws one Problem that lists every value that is wrong. */
export function parseRequest(contract: Contract, raw: RawRequest): RawRequest {
  const items: ProblemItem[] = [];
  const parsed = { params: undefined, query: undefined, body: undefined } as Record<
    keyof RawRequest,
    unknown
  >;
  for (const part of ["params", "query", "body"] as const) {
    const schema = contract[part];
    if (schema === undefined) continue;
    // `parseBody` has checked the text of the body.
    if (part !== "body") items.push(...checkText(raw[part], parts[part]));
    const result = schema.safeParse(raw[part]);
    if (result.success) parsed[part] = result.data;
    else items.push(...result.error.issues.flatMap((issue) => toItems(issue, parts[part])));
  }
  if (items.length === 0) return parsed;
  const missing = contract.body !== undefined && raw.body === undefined;
  throw new Problem("BAD_REQUEST", missing ? "This needs a JSON body." : count(items), items);
}

/** Parses one of many bodies in a request, so that each can fail by itself. */
export function parseBodyOf<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const items = result.error.issues.flatMap((issue) => toItems(issue, ""));
  throw new Problem("BAD_REQUEST", count(items), items);
}

function count({ length }: readonly ProblemItem[]): string {
  return `${length === 1 ? "One value is" : `${length} values are`} not as they should be.`;
}

function toItems(issue: z.core.$ZodIssue, base: string): ProblemItem[] {
  const pointer = base + issue.path.map((key) => `/${escapePointer(String(key))}`).join("");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      pointer: `${pointer}/${escapePointer(key)}`,
      code: issue.code,
      message: "is not known here",
    }));
  }
  return [{ pointer, code: issue.code, message: issue.message }];
}

/** Parses JSON and refuses values that PostgreSQL cannot store. An empty body is undefined. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  const body = parseJson(text);
  const items = checkText(body);
  if (items.length === 0) return body;
  throw new Problem("BAD_REQUEST", "The body holds what cannot be stored.", items);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem("BAD_REQUEST", `The body is not valid JSON: ${reason}`);
  }
}

/** Functions that walk a value by recursion must survive this depth. */
const deepest = 100;
const mostItems = 20;

/**
 * Finds values that JSON allows and we refuse: NUL characters and halves of surrogate pairs, which
 * text and jsonb of PostgreSQL refuse, and `__proto__` as a key, which a careless copy would turn
 * into a prototype. Refused here, they are an error of the request; later they would be ours.
 */
function checkText(value: unknown, pointer = ""): ProblemItem[] {
  const items: ProblemItem[] = [];
  const open: { value: unknown; pointer: string; depth: number }[] = [{ value, pointer, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (items.length >= mostItems) break;
    const here = next;
    if (typeof here.value === "string") {
      const wrong = wrongText(here.value);
      if (wrong !== undefined) items.push({ pointer: here.pointer, code: "TEXT", message: wrong });
      continue;
    }
    if (typeof here.value !== "object" || here.value === null) continue;
    if (here.depth >= deepest) {
      const message = `is nested more than ${deepest} levels deep`;
      items.push({ pointer: here.pointer, code: "DEPTH", message });
      continue;
    }
    for (const [key, each] of Object.entries(here.value).reverse()) {
      const at = `${here.pointer}/${escapePointer(key)}`;
      const wrong = key === "__proto__" ? "is not allowed as a key" : wrongText(key);
      if (wrong !== undefined) items.push({ pointer: at, code: "KEY", message: wrong });
      open.push({ value: each, pointer: at, depth: here.depth + 1 });
    }
  }
  return items;
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function wrongText(text: string): string | undefined {
  if (text.includes("\0")) return "holds a NUL character";
  return isWellFormed(text) ? undefined : "holds half of a surrogate pair";
}

/** `String.prototype.isWellFormed` is in every supported Node, but not in the ES2023 library. */
function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}
