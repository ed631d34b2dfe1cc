import { readFile } from "node:fs/promises";
import { errorCode, hasErrorCode } from "../error-code.ts";
import { EmbeddedPostgresError, lastLines } from "./error.ts";
import type { Layout } from "./layout.ts";

/** The server starts, stops, or ends our session because it stops. */
const transientCodes = new Set(["57P01", "57P02", "57P03", "ECONNREFUSED", "ECONNRESET", "EPIPE"]);
const wrongPasswordCode = "28P01";

export function isTransient(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined) return transientCodes.has(code);
  // The driver gives a connection that ended, or that took too long, no code.
  return error instanceof Error && /connection|timeout/i.test(error.message);
}

export function wrongPassword(error: unknown, layout: Layout): EmbeddedPostgresError | undefined {
  if (!hasErrorCode(error, wrongPasswordCode)) return undefined;
  return new EmbeddedPostgresError(
    "WRONG_PASSWORD",
    `The server of ${layout.dataDirectory} refuses the password in ${layout.password}: ` +
      "put back the one that it was made with.",
    { cause: error },
  );
}

/** Returns when a server that ended deserves another try, and throws the reason otherwise. */
export function refuseEnd(said: string, layout: Layout, mayTryPort: boolean): void {
  // Another process started it between our look and our start.
  if (said.includes('lock file "postmaster.pid" already exists')) return;
  if (said.includes("Address already in use")) {
    if (mayTryPort) return;
    throw new EmbeddedPostgresError(
      "PORT_IN_USE",
      "No free port on 127.0.0.1 could be had: each was taken before the server could use it.",
    );
  }
  if (said.includes("No space left on device")) {
    throw new EmbeddedPostgresError(
      "DISK_FULL",
      `PostgreSQL did not start, because the disk is full: ${layout.dataDirectory}`,
    );
  }
  // It started well and was stopped by its last owner before we came to it.
  if (said.includes("ready to accept connections") && said.includes("shut down")) return;
  throw new EmbeddedPostgresError(
    "START_FAILED",
    `PostgreSQL did not start (all it says is in ${layout.log}):\n${lastLines(said)}`,
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
