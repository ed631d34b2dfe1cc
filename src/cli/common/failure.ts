import { errorCode } from "../../adapters/runtime/error-code.ts";
import { ApiError } from "../../core/api/api-error.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { errorCatalogue } from "../../core/errors.ts";
import { stripControlCharacters } from "./format.ts";

/** A failure that the message explains to the user: printed without a stack, exit status 1. */
export class Failure extends Error {
  override readonly name = "Failure";
}

/** Wrong usage that is found only when the command runs: exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const advice = new Map<ErrorCode | "UNREACHABLE", string>([
  ["UNREACHABLE", "Start an orchestrator with `rmhdag up`, or name another one with --url."],
  ["UNAUTHENTICATED", "Give a token with --token or RMHDAG_TOKEN."],
  ["WORKFLOW_NOT_FOUND", "`rmhdag workflows list` shows the workflows."],
  ["INVALID_INPUTS", "`rmhdag workflows show WORKFLOW` lists its inputs."],
  ["JOB_NOT_FOUND", "`rmhdag jobs list` shows the jobs."],
  ["FILE_EXISTS", "Give --replace to put the new file in its place."],
  ["FILE_IN_USE", "Give --force to delete it all the same."],
  ["QUEUE_NOT_FOUND", "`rmhdag queues` shows the queues."],
]);

/** Describes a refused request: the problem, where in the request it is, and what to do. */
export function describeRefusal(error: ApiError): string {
  const title = error.code === "UNREACHABLE" ? undefined : errorCatalogue[error.code].title;
  const lines = [title === undefined ? error.detail : `${title}: ${error.detail}`];
  const width = Math.max(0, ...error.items.map(({ pointer }) => pointer.length));
  for (const { pointer, message } of error.items) {
    lines.push(`  ${(pointer === "" ? "/" : pointer).padEnd(width)}  ${message}`);
  }
  const hint = advice.get(error.code);
  if (hint !== undefined) lines.push(hint);
  if (error.status >= 500 && error.requestId !== undefined) {
    lines.push(`The orchestrator's log has details under the request id ${error.requestId}.`);
  }
  return lines.map((line) => line.replace(/\S.*/, stripControlCharacters)).join("\n");
}

/** An error as problem+json, for programs that asked for JSON. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof ApiError)) {
    const isUsage = error instanceof UsageError;
    const title = isUsage ? "The command is not used rightly" : "The command failed";
    const code = isUsage ? "USAGE" : "FAILED";
    return JSON.stringify({ type: "about:blank", title, code, detail: describeError(error) });
  }
  const { code, status, detail, items, requestId } = error;
  const entry: { readonly title: string; readonly type?: string } =
    code === "UNREACHABLE" ? { title: "The orchestrator does not answer" } : errorCatalogue[code];
  return JSON.stringify({
    type: entry.type ?? "about:blank",
    title: entry.title,
    ...(status > 0 ? { status } : {}),
    code,
    detail,
    ...(items.length > 0 ? { errors: items } : {}),
    ...(requestId === undefined ? {} : { instance: requestId }),
  });
}

/** The message of an error; with its stack for an error that no code expects. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError) return describeRefusal(error);
  if (!(error instanceof Error)) return String(error);
  const connection = connectionTrouble(error);
  if (connection !== undefined) return connection;
  const isKnown = error instanceof Failure || error instanceof UsageError;
  if (isKnown || errorCode(error) !== undefined) return error.message;
  return error.stack ?? error.message;
}

/** Replaces the driver's error, whose message is empty when it has tried several addresses. */
function connectionTrouble(error: Error): string | undefined {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const first = errors.find(
    (each): each is NodeJS.ErrnoException & { address?: string; port?: number } =>
      each instanceof Error && (each as NodeJS.ErrnoException).syscall === "connect",
  );
  if (first === undefined) return undefined;
  return (
    `No database answers at ${first.address ?? "this address"}:${first.port ?? ""} (${first.code ?? "no answer"}). ` +
    "Check DATABASE_URL, or unset it to use the embedded database."
  );
}
