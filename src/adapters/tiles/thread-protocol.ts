/** The messages between the orchestrator and the threads that render. */
import type { ErrorCode, ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";
import type { Renderer } from "./renderer.ts";

export type TaskKind = keyof Renderer;

export interface ThreadData {
  readonly blockCacheBytes: number;
}

export type ToThread =
  | {
      readonly kind: "task";
      readonly id: number;
      readonly task: TaskKind;
      readonly params: unknown;
    }
  | { readonly kind: "abort"; readonly id: number }
  | { readonly kind: "answer"; readonly id: number; readonly outcome: Outcome };

export type FromThread =
  | { readonly kind: "done"; readonly id: number; readonly outcome: Outcome }
  | { readonly kind: "ask"; readonly id: number; readonly question: Question };

/** What only the orchestrator can tell: where a file is, and the bytes of one that is not local. */
export type Question =
  | { readonly kind: "head"; readonly path: string }
  | {
      readonly kind: "read";
      readonly path: string;
      readonly offset: number;
      readonly length: number;
    };

/** `file`: the thread may read it by itself. */
export interface FoundFile {
  readonly bytes: number;
  readonly file: string | undefined;
}

export type Outcome =
  { readonly value: unknown } | { readonly problem: SentProblem } | { readonly error: SentError };

interface SentProblem {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly items: readonly ProblemItem[];
  readonly headers: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number | undefined;
}

interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
}

/** A class does not survive the way between threads, so an error is sent as its fields. */
export function failed(error: unknown): Outcome {
  if (error instanceof Problem) {
    const { code, message: detail, items, headers, retryAfterSeconds } = error;
    return { problem: { code, detail, items, headers, retryAfterSeconds } };
  }
  if (!(error instanceof Error)) {
    return { error: { name: "Error", message: String(error), stack: undefined } };
  }
  const { name, message, stack } = error;
  return { error: { name, message, stack } };
}

/** The value, or throws what was thrown on the other side. */
export function take(outcome: Outcome): unknown {
  if ("value" in outcome) return outcome.value;
  if ("problem" in outcome) {
    const { code, detail, items, headers, retryAfterSeconds } = outcome.problem;
    throw new Problem(code, detail, items, {
      headers,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
  const { name, message, stack } = outcome.error;
  throw Object.assign(new Error(message), { name, ...(stack !== undefined && { stack }) });
}

/** The buffers of a value that may be moved to the other side instead of copied. */
export function movable(value: unknown): ArrayBuffer[] {
  const bytes =
    value instanceof Uint8Array
      ? value
      : value instanceof Object && "bytes" in value && value.bytes instanceof Uint8Array
        ? value.bytes
        : undefined;
  return bytes?.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? [bytes.buffer]
    : [];
}
