import { errorCode } from "../runtime/error-code.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { TransferOptions } from "./storage.ts";

/** A file that a task may read, wherever it lies. */
export interface Source {
  readonly kind: "storage" | "https" | "file";
  /** Safe to log and to store: without query, credentials and signature. */
  readonly display: string;
  /** What GDAL opens. May hold a signature: never log it. */
  gdalPath(): Promise<string>;
  fetchTo(file: string, options?: TransferOptions): Promise<{ readonly bytes: number }>;
  /** Undefined: there is none. A server may not tell the size. */
  head(): Promise<{ readonly bytes: number | null; readonly etag: string | null } | undefined>;
}

export type SourceProblem =
  | "SOURCE_PATH_NOT_ALLOWED"
  | "SOURCE_SCHEME_NOT_ALLOWED"
  | "SOURCE_HOST_NOT_ALLOWED"
  | "SOURCE_HAS_CREDENTIALS"
  | "SOURCE_NEEDS_UNPACKING";

/** An input that names what it must not; the message says what would be allowed. */
export class BadSource extends KnownError {
  constructor(code: SourceProblem, message: string) {
    super(code, "permanent", message);
  }
}

/** A server that was asked for a source and did not give it. */
export class SourceNotServed extends KnownError {
  constructor(display: string, status: number) {
    const isTheirs = status >= 500 || status === 429 || status === 408;
    const code = isTheirs ? "SOURCE_UNREACHABLE" : "SOURCE_NOT_SERVED";
    super(code, isTheirs ? "transient" : "permanent", `${display} answers with ${status}.`);
  }
}

/** A server that nobody could ask. Without its words: they may hold an address or a secret. */
export class SourceUnreachable extends KnownError {
  constructor(display: string, cause: unknown) {
    const code = errorCode(cause);
    const why = code === undefined ? "" : ` (${code})`;
    super("SOURCE_UNREACHABLE", "transient", `${display} could not be reached${why}.`);
  }
}
