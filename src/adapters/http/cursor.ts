import type { z } from "zod";
import { Problem } from "../../core/errors.ts";
import { errorCode } from "../runtime/error-code.ts";

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

/**
 * For `.catch` of a query that compares with a token or by a filter. A token that decodes but does not
 * belong to this list has values of the wrong type, and a filter may calculate a number that is too
 * large or end a pattern with a backslash: the database refuses both (class 22, data exception).
 */
export function refuseBadValues(
  token: string | undefined,
  hasFilter: boolean,
): (error: unknown) => never {
  return (error) => {
    if (errorCode(error)?.startsWith("22") !== true) throw error;
    if (token !== undefined) {
      throw new Problem("BAD_REQUEST", "The token is not one of this list.", [
        {
          pointer: "/query/token",
          code: "CURSOR",
          message: "must be of a `next` link of this list",
        },
      ]);
    }
    if (!hasFilter) throw error;
    const reason = error instanceof Error ? `: ${error.message}` : "";
    throw new Problem("INVALID_FILTER", `The filter cannot be calculated${reason}.`);
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
