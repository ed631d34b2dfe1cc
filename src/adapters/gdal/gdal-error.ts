import type { ErrorCategory } from "../../core/model/task.ts";
import { KnownError } from "../runtime/known-error.ts";
import { hidePaths, hideSecrets } from "../runtime/redact.ts";

const linesKept = 20;

/** A program of GDAL failed. Its code and category are derived from what it wrote to stderr. */
export class GdalError extends KnownError {
  readonly program: string;
  /** Null: a signal ended the program. */
  readonly exitCode: number | null;
  /** The signal that ended it, by the kernel's name. */
  readonly killedBy: string | undefined;
  /** The last lines of its stderr. */
  readonly lines: readonly string[];

  constructor(program: string, exitCode: number | null, stderr: string, killedBy?: string) {
    const lines = hidePaths(hideSecrets(stderr))
      .split("\n")
      .map((line) => line.trim());
    const kept = lines.filter((line) => line !== "").slice(-linesKept);
    const { code, category } = classify(stderr, killedBy);
    super(code, category, `${program} failed: ${reasonIn(kept, exitCode, killedBy)}`, {
      program,
      exit_code: exitCode,
      lines: kept,
    });
    this.program = program;
    this.exitCode = exitCode;
    this.killedBy = killedBy;
    this.lines = kept;
  }
}

/** A program of GDAL ran longer than its caller's timeout. */
export class GdalTimeout extends KnownError {
  constructor(program: string, timeoutMs: number) {
    super("GDAL_TIMEOUT", "transient", `${program} took longer than ${timeoutMs / 1000} s.`);
  }
}

const meanings: readonly [RegExp, string, ErrorCategory][] = [
  [/no space left on device|\bENOSPC\b|free disk space available/i, "DISK_FULL", "transient"],
  [/cannot allocate|out of memory|bad_alloc|memory allocation/i, "OUT_OF_MEMORY", "transient"],
  [
    /missing codec|codec.*not (?:supported|available|configured)|unsupported JPEG data precision/i,
    "UNSUPPORTED_CODEC",
    "permanent",
  ],
  [
    /HTTP (?:response )?(?:code|error).{0,10}\b(?:429|50[0-4])|curl.*(?:timed out|reset|resolve)/i,
    "SOURCE_UNREACHABLE",
    "transient",
  ],
  [
    /not recognized as (?:a supported|being in a supported) file format|unable to open datasource/i,
    "NOT_READABLE",
    "permanent",
  ],
];

function classify(
  stderr: string,
  killedBy: string | undefined,
): { code: string; category: ErrorCategory } {
  for (const [pattern, code, category] of meanings) {
    if (pattern.test(stderr)) return { code, category };
  }
  // We kill only with a timeout or an abort, which reject by themselves: this was the kernel's OOM
  // killer.
  if (killedBy === "SIGKILL") return { code: "OUT_OF_MEMORY", category: "transient" };
  return { code: "GDAL_FAILED", category: "permanent" };
}

/** The first line that reports an error: later ones are its consequences. */
function reasonIn(
  lines: readonly string[],
  exitCode: number | null,
  killedBy: string | undefined,
): string {
  const error = lines.find((line) => /^(?:ERROR|FAILURE)\b/.test(line)) ?? lines.at(-1);
  if (error !== undefined) return error.replace(/^ERROR \d+: /, "");
  return killedBy === undefined
    ? `it ended with ${exitCode ?? "nothing"}`
    : `killed by ${killedBy}`;
}
