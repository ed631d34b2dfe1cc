import { z } from "zod";
import type { JsonObject } from "../core/model/json.ts";
import { checkOutput, cleanText } from "../core/model/output.ts";
import type { ErrorCategory, TaskError } from "../core/model/task.ts";
import { KnownError } from "../adapters/runtime/known-error.ts";
import { hidePaths, hideSecrets } from "../adapters/runtime/redact.ts";
import { HandlerError } from "./errors.ts";

const transientCodes: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENETDOWN",
  "ENETUNREACH",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EBUSY",
  "EMFILE",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_SOCKET",
]);
const diskFullCodes: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);
const throttlingStatuses: ReadonlySet<number> = new Set([429, 503]);
const transientStatuses: ReadonlySet<number> = new Set([408, 425, 500, 502, 504]);
const throttlingWords = /rate limit|too many requests|throttl|quota exceeded|server busy/i;
const longestMessage = 8000;
const longestDetails = 64 * 1024;

/**
 * Decides whether a thrown value is retried. In this order: the category of an error that the handler
 * or an adapter classified itself; throttling; network errors and timeouts (transient); mistakes in
 * code or data, which would only repeat (permanent). Any other `Error` is transient: losing a job to a
 * short disturbance is worse than retrying a hopeless task as often as its workflow allows.
 *
 * Partners read the message. An unexpected one, of Node.js or a library, may name paths and
 * credentials of the machine, which are left out.
 */
export function classifyError(thrown: unknown): TaskError {
  if (thrown instanceof HandlerError || thrown instanceof KnownError) {
    return taskError(thrown.code, thrown.message, thrown.category, thrown.details);
  }
  if (!(thrown instanceof Error)) {
    return taskError("THROWN_VALUE", `The handler threw ${describe(thrown)}.`, "transient");
  }
  const message = hidePaths(hideSecrets(thrown.message));
  const code = textOf(thrown, "code") ?? textOf(thrown.cause, "code");
  const status =
    numberOf(thrown, "statusCode") ??
    numberOf(thrown, "status") ??
    numberOf(thrown.cause, "status");
  const name = code ?? (thrown.name === "Error" ? "ERROR" : thrown.name);
  const retryAfter = numberOf(thrown, "retryAfterSeconds");
  if ((status !== undefined && throttlingStatuses.has(status)) || isThrottled(thrown)) {
    const details = retryAfter === undefined ? undefined : { retry_after_seconds: retryAfter };
    return taskError("THROTTLED", message, "throttling", details);
  }
  if (status !== undefined && transientStatuses.has(status)) {
    return taskError(`HTTP_${status}`, message, "transient");
  }
  // One code for a full disk, whether GDAL, our own check before the work or the system reports it.
  if (code !== undefined && diskFullCodes.has(code)) {
    const advice = `The worker's disk is full: free some space, or use a larger disk.`;
    return taskError("DISK_FULL", `${advice} ${message}`, "transient");
  }
  if (code !== undefined && transientCodes.has(code)) return taskError(code, message, "transient");
  if (thrown.name === "TimeoutError" || thrown.name === "AbortError") {
    return taskError(thrown.name, message, "transient");
  }
  if (isMistake(thrown) || (status !== undefined && status >= 400 && status < 500)) {
    return taskError(name, message, "permanent");
  }
  return taskError(name, message, "transient");
}

/** `fetch` reports every failure of the network as a TypeError with the real error as its cause. */
function isMistake(error: Error): boolean {
  if (error instanceof TypeError) return error.cause === undefined;
  return (
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError ||
    error instanceof z.ZodError
  );
}

function isThrottled(error: Error): boolean {
  return throttlingWords.test(error.message);
}

function taskError(
  code: string,
  message: string,
  category: ErrorCategory,
  details?: JsonObject,
): TaskError {
  const text = cleanText(message);
  const isStorable = details !== undefined && isSmallJson(details);
  return {
    code: cleanText(code).slice(0, 64) || "ERROR",
    message: text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text,
    category,
    ...(isStorable ? { details } : {}),
  };
}

function isSmallJson(details: JsonObject): boolean {
  return checkOutput(details, { maxBytes: longestDetails, maxDepth: 16 }).ok;
}

function describe(value: unknown): string {
  try {
    return typeof value === "string" ? `the text ${JSON.stringify(value)}` : String(value);
  } catch {
    return "a value that cannot be printed";
  }
}

function textOf(value: unknown, key: string): string | undefined {
  const property = ownValue(value, key);
  return typeof property === "string" ? property : undefined;
}

function numberOf(value: unknown, key: string): number | undefined {
  const property = ownValue(value, key);
  return typeof property === "number" && Number.isFinite(property) ? property : undefined;
}

function ownValue(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}
