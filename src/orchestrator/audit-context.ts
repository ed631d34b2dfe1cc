import type { Caller } from "../adapters/http/handler.ts";
import { Problem } from "../core/errors.ts";

/** Who changes an asset, a platform or a key, and which state of it the caller had read. */
export interface AuditContext {
  /** The person or system that the caller acts for. */
  readonly actor: string;
  /** The name of the token that was used. */
  readonly via: string;
  /** The row version that the caller had read; a change of another version is refused. */
  readonly ifMatch?: number | undefined;
  /** The context of the request, for the jobs that the change starts. */
  readonly traceParent?: string | undefined;
}

interface ChangeRequest {
  readonly caller: Caller | undefined;
  readonly traceParent?: string | undefined;
  header(name: string): string | undefined;
}

/** `If-Match: "3"` names the row version that the caller had read. */
export function auditContextOf(request: ChangeRequest, actor: string | undefined): AuditContext {
  const via = request.caller?.name ?? "nobody";
  const ifMatch = readIfMatch(request.header("if-match"));
  return { actor: actor ?? via, via, ifMatch, traceParent: request.traceParent };
}

function readIfMatch(header: string | undefined): number | undefined {
  if (header === undefined || header === "*") return undefined;
  const number = /^(?:W\/)?"?(\d{1,9})"?$/.exec(header.trim())?.[1];
  if (number !== undefined) return Number(number);
  throw new Problem("BAD_REQUEST", 'If-Match must be a row version, such as "3".');
}

export function refuseStale(rowVersion: number, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === rowVersion) return;
  throw new Problem(
    "EDIT_CONFLICT",
    `It was changed meanwhile: you saw "${ifMatch}", it is "${rowVersion}". Read it again.`,
  );
}

export function etag(rowVersion: number): { readonly etag: string } {
  return { etag: `"${rowVersion}"` };
}
