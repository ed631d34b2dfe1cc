import type { ProblemBody } from "../../core/api/schemas.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { Problem, errorCatalogue } from "../../core/errors.ts";
import { errorCode, hasErrorCode } from "../runtime/error-code.ts";

export const problemMedia = "application/problem+json";

/** An error as the server answers it. `isOurs`: it belongs in the log. */
export function answerError(error: unknown, requestId: string) {
  const known = toProblem(error);
  const problem =
    known ?? new Problem("INTERNAL", `This is our mistake. Tell us the request id ${requestId}.`);
  const retryAfter = problem.retryAfterSeconds ?? (problem.status === 503 ? 2 : undefined);
  return {
    status: problem.status,
    isOurs: problem.status >= 500,
    headers: {
      ...problem.headers,
      ...(problem.code === "UNAUTHENTICATED" ? { "www-authenticate": "Bearer" } : {}),
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    },
    body: problemBody(problem, requestId),
  };
}

export function problemBody(problem: Problem, requestId: string): ProblemBody {
  const entry = errorCatalogue[problem.code];
  const { status, title } = entry;
  return {
    type: "type" in entry ? entry.type : `/api/v1/docs#${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    instance: requestId,
    errors: [...problem.items],
  };
}

/** Undefined: the error is a bug of ours, and its text goes to the log only. */
export function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  if (isUnreachable(error)) {
    return new Problem("UNAVAILABLE", "The database does not answer. Try again in a moment.");
  }
  if (hasErrorCode(error, undefinedTable)) {
    return new Problem("UNAVAILABLE", "The database lacks our tables: run `rmhdag migrate`.");
  }
  const { statusCode } = error as { statusCode?: unknown };
  const mapped = typeof statusCode === "number" ? fromStatus(statusCode) : undefined;
  return mapped === undefined ? undefined : new Problem(mapped.code, mapped.detail(error.message));
}

const undefinedTable = "42P01";
const unreachable = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "57P01", // an administrator stops the server
  "57P02", // the server crashed
  "57P03", // the server is starting
  "53300", // the server has no connection left
]);

/** The driver's own "Connection terminated" has no code. */
function isUnreachable(error: Error): boolean {
  const code = errorCode(error) ?? "";
  const isTerminated = error.message.startsWith("Connection terminated");
  return isTerminated || unreachable.has(code) || code.startsWith("08");
}

/** Requests that the HTTP library refuses before a handler sees them. */
function fromStatus(
  status: number,
): { code: ErrorCode; detail(message: string): string } | undefined {
  switch (status) {
    case 400:
      return { code: "BAD_REQUEST", detail: (message) => message };
    case 404:
      return { code: "NOT_FOUND", detail: (message) => message };
    case 413:
      return {
        code: "PAYLOAD_TOO_LARGE",
        detail: () => "The body is larger than is allowed here.",
      };
    case 415:
      return {
        code: "UNSUPPORTED_MEDIA_TYPE",
        detail: () => "Send JSON, and say so: `Content-Type: application/json`.",
      };
    default:
      return undefined;
  }
}
