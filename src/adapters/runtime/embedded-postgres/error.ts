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

/** The end of a program's output: its last lines say what went wrong. */
export function lastLines(output: string, count = 12): string {
  return output.trimEnd().split("\n").slice(-count).join("\n");
}
