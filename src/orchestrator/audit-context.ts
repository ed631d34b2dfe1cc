import type { Caller } from "../adapters/http/handler.ts";
import { Problem } from "../core/errors.ts";
import type { Act } from "./assets/deps.ts";

interface Changing {
  readonly caller: Caller | undefined;
  header(name: string): string | undefined;
}

/** Who does it, and on which state: `If-Match: "3"` names the row version that was seen. */
export function actOf(request: Changing, actor: string | undefined): Act {
  const via = request.caller?.name ?? "nobody";
  return { actor: actor ?? via, via, ifMatch: ifMatchOf(request.header("if-match")) };
}

function ifMatchOf(header: string | undefined): number | undefined {
  if (header === undefined || header === "*") return undefined;
  const number = /^(?:W\/)?"?(\d{1,9})"?$/.exec(header.trim())?.[1];
  if (number !== undefined) return Number(number);
  throw new Problem("BAD_REQUEST", 'If-Match must be a row version, such as "3".');
}

export function etag(rowVersion: number): { readonly etag: string } {
  return { etag: `"${rowVersion}"` };
}
