import type { ProblemBody } from "../../core/api/schemas.ts";
import { Problem, errorCatalogue } from "../../core/errors.ts";
import { hasErrorCode } from "../runtime/error-code.ts";
import { describeOutage } from "./outage.ts";

export const problemMedia = "application/problem+json";

/**
 * An error as the server answers it. `isOurs`: it belongs in the log. `inOutage`: the status for a
 * client that may try again, where it is another than that of the error.
 */
export function answerError(
  error: unknown,
  requestId: string,
  { bodyLimit, inOutage }: { bodyLimit?: number | undefined; inOutage?: number | undefined } = {},
) {
  const known = toProblem(error, bodyLimit);
  const problem =
    known ?? new Problem("INTERNAL", `This is our mistake. Tell us the request id ${requestId}.`);
  const retryAfter = problem.retryAfterSeconds ?? (problem.status === 503 ? 2 : undefined);
  const mayTryAgain = problem.status >= 500 || problem.code === "TOO_MANY_REQUESTS";
  return {
    status: mayTryAgain ? (inOutage ?? problem.status) : problem.status,
    isOurs: problem.status >= 500,
    headers: {
      ...problem.headers,
      ...(problem.code === "UNAUTHENTICATED" ? { "www-authenticate": "Bearer" } : {}),
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    },
    body: problemBody(problem, requestId),
  };
}

/** A problem that lists more helps no reader. */
const mostItems = 100;

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
    errors: problem.items.slice(0, mostItems),
  };
}

/** Undefined: the error is a bug of ours, and its text goes to the log only. */
export function toProblem(error: unknown, bodyLimit?: number): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  const outage = describeOutage(error);
  if (outage !== undefined) return new Problem("UNAVAILABLE", `${outage} Try again in a moment.`);
  if (hasErrorCode(error, undefinedTable)) {
    return new Problem("UNAVAILABLE", "The database lacks our tables: run `rmhdag migrate`.");
  }
  const { statusCode } = error as { statusCode?: unknown };
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode >= 500) return undefined;
  return fromStatus(statusCode, error.message, bodyLimit);
}

const undefinedTable = "42P01";

/** Requests that the HTTP library refuses before a handler sees them. */
function fromStatus(status: number, message: string, bodyLimit: number | undefined): Problem {
  switch (status) {
    case 404:
      return new Problem("NOT_FOUND", message);
    case 413: {
      const limit = bodyLimit === undefined ? "" : `: ${bodyLimit} bytes`;
      return new Problem("PAYLOAD_TOO_LARGE", `The body is larger than is allowed here${limit}.`);
    }
    case 415:
      return new Problem(
        "UNSUPPORTED_MEDIA_TYPE",
        "Send JSON, and say so: `Content-Type: application/json`.",
      );
    default:
      return new Problem("BAD_REQUEST", message);
  }
}
