import { errorCode } from "../runtime/error-code.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { TransferOptions } from "./storage.ts";

/** A file that a task may read: in storage, on a web server, or on a mount. */
export interface Source {
  readonly kind: "storage" | "https" | "file";
  /** The path without query, credentials and signature: safe to log and to store. */
  readonly display: string;
  /** The file on this machine; undefined where it must be fetched. */
  localPath(): Promise<string | undefined>;
  fetchTo(file: string, options?: TransferOptions): Promise<{ readonly bytes: number }>;
  /** Undefined: there is no such file. Some servers do not send the size. */
  head(): Promise<{ readonly bytes: number | null; readonly etag: string | null } | undefined>;
}

export type SourceProblem =
  | "SOURCE_PATH_NOT_ALLOWED"
  | "SOURCE_SCHEME_NOT_ALLOWED"
  | "SOURCE_HOST_NOT_ALLOWED"
  | "SOURCE_HAS_CREDENTIALS"
  | "SOURCE_CHANGED"
  | "SOURCE_NOT_IN_PARTS"
  | "SOURCE_TOO_LARGE";

/** A source that is not allowed; the message says what is. */
export class BadSource extends KnownError {
  constructor(code: SourceProblem, message: string) {
    super(code, "permanent", message);
  }
}

/** The server of a source answered with an error. */
export class SourceNotServed extends KnownError {
  constructor(display: string, status: number) {
    const isTheirs = status >= 500 || status === 429 || status === 408;
    const code = isTheirs ? "SOURCE_UNREACHABLE" : "SOURCE_NOT_SERVED";
    super(code, isTheirs ? "transient" : "permanent", `${display} answers with ${status}.`);
  }
}

/** The server of a source did not answer. The message of the cause is left out: it may hold a secret. */
export class SourceUnreachable extends KnownError {
  constructor(display: string, cause: unknown) {
    const code = errorCode(cause);
    const why = code === undefined ? "" : ` (${code})`;
    super("SOURCE_UNREACHABLE", "transient", `${display} could not be reached${why}.`);
  }
}
