import { Answer } from "../adapters/http/handler.ts";
import { Problem } from "../core/errors.ts";
import type { Target, TargetAnswer } from "./call-target.ts";
import { callTarget, TargetError } from "./call-target.ts";
import { traceHeader } from "./orchestrator.ts";
import type { ForwardedRequest } from "./orchestrator.ts";

/** Headers that are forwarded. The caller's token is not: the target gets the gateway's. */
const forwardedHeaders = ["accept", "if-match", "if-none-match", "x-correlation-id"];
const returnedHeaders = ["content-type", "etag", "retry-after", "last-modified"];

export interface ForwardOptions {
  readonly method: string;
  /** Checked by the route. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly timeoutMs: number;
}

/** Forwards a request to a program of the platform and answers with its answer. */
export async function forward(
  target: Target,
  request: ForwardedRequest,
  options: ForwardOptions,
): Promise<Answer> {
  const { method, path, query, body, timeoutMs } = options;
  const answer = await callTarget(target, {
    method,
    path: path + queryText(query),
    headers: {
      ...headersOf(request),
      "x-request-id": request.requestId,
      ...traceHeader(request.traceParent),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs,
  }).catch((error: unknown) => {
    throw error instanceof TargetError ? new Problem("UNAVAILABLE", `${error.message}.`) : error;
  });
  return toAnswer(answer, target.name);
}

function toAnswer({ status, headers, bytes }: TargetAnswer, name: string): Answer {
  if (status >= 300 && status < 400 && status !== 304) {
    throw new Problem("BAD_GATEWAY", `${name} sends elsewhere, which is not followed.`);
  }
  const kept = returnedHeaders.flatMap((header) => {
    const value = headers.get(header);
    return value === null ? [] : [[header, value]];
  });
  return new Answer(bytes, { status, headers: Object.fromEntries(kept) as Record<string, string> });
}

function headersOf(request: ForwardedRequest): Record<string, string> {
  const found = forwardedHeaders.flatMap((name) => {
    const value = request.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}
