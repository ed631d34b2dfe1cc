import type { z } from "zod";
import type { Contract } from "../../core/api/contract.ts";
import type { ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";
import { checkText, escapePointer } from "./check-text.ts";

export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Pointers lead into the body; those into the address start with /params or /query. */
const parts = { params: "/params", query: "/query", body: "" } as const;

/** Everything that is wrong is told at once. */
export function parseRequest(contract: Contract, raw: RawRequest): RawRequest {
  const items: ProblemItem[] = [];
  const parsed = { params: undefined, query: undefined, body: undefined } as Record<
    keyof RawRequest,
    unknown
  >;
  for (const part of ["params", "query", "body"] as const) {
    const schema = contract[part];
    if (schema === undefined) continue;
    // The body was checked when it was read.
    if (part !== "body") items.push(...checkText(raw[part], parts[part]));
    const result = schema.safeParse(raw[part]);
    if (result.success) parsed[part] = result.data;
    else items.push(...result.error.issues.flatMap((issue) => toItems(issue, parts[part])));
  }
  if (items.length === 0) return parsed;
  const missing = contract.body !== undefined && raw.body === undefined;
  throw new Problem("BAD_REQUEST", missing ? "This needs a JSON body." : count(items), items);
}

/** One of many bodies in a request, told apart from the others. */
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
