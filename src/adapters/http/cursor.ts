import type { z } from "zod";
import { Problem } from "../../core/errors.ts";

/**
 * A cursor is the end of a page. It is opaque, so that the order of a list can change, and holds the
 * keys of the last item and no offset, because new items would shift an offset.
 */
export function encodeCursor(keys: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(keys)).toString("base64url");
}

export function decodeCursor<Schema extends z.ZodType>(
  cursor: string | undefined,
  schema: Schema,
): z.output<Schema> | undefined {
  if (cursor === undefined) return undefined;
  const parsed = schema.safeParse(tryParse(Buffer.from(cursor, "base64url").toString()));
  if (parsed.success) return parsed.data;
  throw new Problem("BAD_REQUEST", "The cursor is not one of this list.", [
    { pointer: "/query/cursor", code: "CURSOR", message: "must be a `next_cursor` of this list" },
  ]);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
