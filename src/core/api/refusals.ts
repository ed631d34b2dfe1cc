import type { ErrorCode } from "../errors.ts";
import type { Contract } from "./contract.ts";

export type Program = "orchestrator" | "gateway";

/**
 * All errors that a route can answer: those of its contract, and those of the steps that every
 * request passes before its handler.
 */
export function refusalsOf(contract: Contract, program: Program): ReadonlySet<ErrorCode> {
  const { access, params, query, body } = contract;
  const changes = contract.method !== "GET";
  const isParsed = changes || [params, query, body].some((part) => part !== undefined);
  const isPublic = access === "public";
  // The gateway does not look at the token of a public request. The orchestrator does, because some
  // callers see more than others.
  const identifies = !isPublic || program === "orchestrator";
  return new Set([
    ...contract.errors,
    ...(isParsed ? (["BAD_REQUEST"] as const) : []),
    ...(changes ? (["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
    ...(identifies ? (["UNAUTHENTICATED", "FORBIDDEN"] as const) : []),
    ...(program === "gateway" && !isPublic ? (["TOO_MANY_REQUESTS"] as const) : []),
    ...(["REQUEST_TIMEOUT", "HEADERS_TOO_LARGE", "INTERNAL", "UNAVAILABLE"] as const),
  ]);
}
