import type { Caller } from "../../adapters/http/handler.ts";
import type { Viewer } from "../../core/domain/served-version.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";

export function viewerOf(caller: Caller | undefined): Viewer {
  const may = caller?.access ?? [];
  return { reads: may.includes("read"), curates: may.includes("curate") };
}

/** What is hidden and what is not there answer alike, so that guessing tells nothing. */
export function notThere({ reads }: Viewer, code: ErrorCode, detail: string): Problem {
  return reads
    ? new Problem(code, detail)
    : new Problem("UNAUTHENTICATED", "Only what is public is served without a token.");
}
