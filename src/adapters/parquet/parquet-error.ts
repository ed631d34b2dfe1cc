import { KnownError } from "../runtime/known-error.ts";

export type ParquetProblem =
  "FILE_UNREADABLE" | "NO_GEOMETRY" | "FORMAT_NOT_SUPPORTED" | "EXTERNAL_REFERENCE";

export class ParquetError extends KnownError {
  readonly problem: ParquetProblem;

  constructor(problem: ParquetProblem, message: string) {
    super(problem, "permanent", message);
    this.problem = problem;
  }
}

/** An error as it travels from a process that reads a file. */
export interface ParquetRefusal {
  readonly kind: "refused";
  /** Undefined: it is no finding about the file. */
  readonly problem: ParquetProblem | undefined;
  readonly message: string;
}

export function refusalOf(error: unknown): ParquetRefusal {
  const message = error instanceof Error ? error.message : String(error);
  // Sizes that a file claims fail as a RangeError where memory is allocated for them.
  const unreadable = error instanceof RangeError ? "FILE_UNREADABLE" : undefined;
  const problem = error instanceof ParquetError ? error.problem : unreadable;
  return { kind: "refused", problem, message };
}

export function errorOf({ problem, message }: ParquetRefusal): Error {
  return problem === undefined ? new Error(message) : new ParquetError(problem, message);
}
