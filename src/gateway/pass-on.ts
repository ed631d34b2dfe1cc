import { Answer } from "../adapters/http/handler.ts";
import { Problem } from "../core/errors.ts";
import type { Target, TargetAnswer } from "./call-target.ts";
import { callTarget, TargetError } from "./call-target.ts";
import type { Passed } from "./orchestrator.ts";

/** What may travel. The caller's own token never does: the target is asked with the gateway's. */
const passedOn = ["accept", "if-match", "if-none-match", "x-correlation-id"];
const passedBack = ["content-type", "etag", "retry-after", "last-modified"];

export interface PassedOn {
  readonly method: string;
  /** Checked by whoever passes it on. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly timeoutMs: number;
}

/** A request as it came, to a program of the platform, and its answer as it came back. */
export async function passOn(target: Target, request: Passed, asked: PassedOn): Promise<Answer> {
  const { method, path, query, body, timeoutMs } = asked;
  const answer = await callTarget(target, {
    method,
    path: path + queryText(query),
    headers: { ...headersOf(request), "x-request-id": request.requestId },
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs,
  }).catch((error: unknown) => {
    throw error instanceof TargetError ? new Problem("UNAVAILABLE", `${error.message}.`) : error;
  });
  return passBack(answer, target.name);
}

function passBack({ status, headers, bytes }: TargetAnswer, name: string): Answer {
  if (status >= 300 && status < 400 && status !== 304) {
    throw new Problem("BAD_GATEWAY", `${name} sends elsewhere, which is not followed.`);
  }
  const kept = passedBack.flatMap((header) => {
    const value = headers.get(header);
    return value === null ? [] : [[header, value]];
  });
  return new Answer(bytes, { status, headers: Object.fromEntries(kept) as Record<string, string> });
}

function headersOf(request: Passed): Record<string, string> {
  const found = passedOn.flatMap((name) => {
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
