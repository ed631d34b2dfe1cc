import { readFile } from "node:fs/promises";
import type { Layout } from "./layout.ts";
import { errorCode, hasErrorCode } from "../runtime/error-code.ts";

export type EmbeddedPostgresErrorCode =
  | "NO_BINARIES"
  | "BINARIES_UNUSABLE"
  | "PORT_IN_USE"
  | "DATA_DIRECTORY_UNUSABLE"
  | "DISK_FULL"
  | "INITDB_FAILED"
  | "VERSION_MISMATCH"
  | "START_FAILED"
  | "STOP_FAILED"
  | "WRONG_PASSWORD";

export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The last lines of a program's output, which say why it failed. */
export function lastLines(output: string, count = 12): string {
  return output.trimEnd().split("\n").slice(-count).join("\n");
}

/** Codes of a server that is starting or stopping, or of a connection that it closed. */
const transientCodes = new Set(["57P01", "57P02", "57P03", "ECONNREFUSED", "ECONNRESET", "EPIPE"]);
const wrongPasswordCode = "28P01";

export function isTransient(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined) return transientCodes.has(code);
  // The driver's errors for a closed connection and for a timeout have no code.
  return error instanceof Error && /connection|timeout/i.test(error.message);
}

export function wrongPassword(error: unknown, layout: Layout): EmbeddedPostgresError | undefined {
  if (!hasErrorCode(error, wrongPasswordCode)) return undefined;
  return new EmbeddedPostgresError(
    "WRONG_PASSWORD",
    `The server of ${layout.dataDirectory} refuses the password in ${layout.password}: ` +
      "restore the password that the database was made with.",
    { cause: error },
  );
}

/**
 * Decides about a server that ended: returns if it should be started again, else throws the reason.
 */
export function throwUnlessRetryable(
  output: string,
  layout: Layout,
  mayTryAnotherPort: boolean,
): void {
  // Another process has started the server in the meantime.
  if (output.includes('lock file "postmaster.pid" already exists')) return;
  if (output.includes("pre-existing shared memory block")) return;
  if (output.includes("Address already in use")) {
    if (mayTryAnotherPort) return;
    throw new EmbeddedPostgresError(
      "PORT_IN_USE",
      "No port on 127.0.0.1 stayed free: other programs took each one before the server did.",
    );
  }
  if (output.includes("No space left on device")) {
    throw new EmbeddedPostgresError(
      "DISK_FULL",
      `PostgreSQL did not start, because the disk is full: ${layout.dataDirectory}`,
    );
  }
  // The server started, and its last owner stopped it before this process could attach.
  if (output.includes("ready to accept connections") && output.includes("shut down")) return;
  throw new EmbeddedPostgresError(
    "START_FAILED",
    `PostgreSQL did not start (its log is ${layout.log}):\n${lastLines(output)}`,
  );
}

export async function startFailed(layout: Layout, cause: unknown): Promise<EmbeddedPostgresError> {
  const log = await readFile(layout.log, "utf8").catch(() => "");
  return new EmbeddedPostgresError(
    "START_FAILED",
    `PostgreSQL in ${layout.dataDirectory} does not answer. If it is not running, remove ` +
      `${layout.data}/postmaster.pid. The end of ${layout.log}:\n${lastLines(log)}`,
    { cause },
  );
}
