import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { ErrorCode } from "../../core/errors.ts";
import { Problem, errorCatalogue } from "../../core/errors.ts";
import { problemBody, problemMedia } from "./problem.ts";

/**
 * Answers a connection whose bytes never became a request: Node reports it here, before any route or
 * hook of the server.
 */
export function answerClientError(
  error: Error & { readonly code?: string },
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (!socket.writable) return;
  const problem = toProblem(error.code);
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(problem, requestId));
  const lines = Object.entries({
    ...headers,
    "x-request-id": requestId,
    "content-type": problemMedia,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { status } = errorCatalogue[problem.code];
  socket.end(`HTTP/1.1 ${status} ${reasons[problem.code]}\r\n${lines.join("")}\r\n${body}`);
}

const reasons = {
  BAD_REQUEST: "Bad Request",
  REQUEST_TIMEOUT: "Request Timeout",
  HEADERS_TOO_LARGE: "Request Header Fields Too Large",
} satisfies Partial<Record<ErrorCode, string>>;

function toProblem(code: string | undefined): Problem & { readonly code: keyof typeof reasons } {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return refuse("REQUEST_TIMEOUT", "The request was not complete in time.");
    case "HPE_HEADER_OVERFLOW":
      return refuse("HEADERS_TOO_LARGE", "The address and the headers may have 16 kB together.");
    default:
      return refuse("BAD_REQUEST", "This is not a request of HTTP/1.1.");
  }
}

function refuse<Code extends keyof typeof reasons>(code: Code, detail: string) {
  return new Problem(code, detail) as Problem & { readonly code: Code };
}
