import type { ProblemBody } from "../../core/api/schemas.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { Problem, errorCatalogue } from "../../core/errors.ts";

export const problemMedia = "application/problem+json";

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

/** Undefined: nobody foresaw this error, so it is ours, and its text stays in the log. */
export function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code === "string" && isAway(code, error)) {
    return new Problem("UNAVAILABLE", "The database does not answer. Try again in a moment.");
  }
  if (code === undefinedTable) {
    return new Problem("UNAVAILABLE", "The database lacks our tables: run `rmhdag migrate`.");
  }
  const mapped = typeof statusCode === "number" ? fromStatus(statusCode) : undefined;
  return mapped === undefined ? undefined : new Problem(mapped.code, mapped.detail(error.message));
}

const undefinedTable = "42P01";
const away = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "57P01", // the server is stopped by its administrator
  "57P02", // it crashed
  "57P03", // it is starting
  "53300", // it has no connection left
]);

function isAway(code: string, error: Error): boolean {
  return (
    away.has(code) || code.startsWith("08") || error.message.startsWith("Connection terminated")
  );
}

/** What the HTTP library refuses by itself, before a handler sees it. */
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
