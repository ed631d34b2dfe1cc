/**
 * Starts a program that decodes a Parquet file from outside. A file of a few hundred bytes can claim any
 * number of rows and pages of any size, and the memory that they take ends the process that reads them:
 * it must not be the worker, with all its other tasks.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createNoSandbox } from "../gdal/find-sandbox.ts";
import { limitsFor } from "../gdal/limits.ts";
import { extraStreams, reasonOf, serveExtraStreams } from "../gdal/run-process.ts";
import { ParquetError } from "./parquet-error.ts";

export interface ParquetLimits {
  readonly workDir: string;
  readonly signal: AbortSignal;
  readonly heapMb?: number;
}

export interface ParquetProcess {
  readonly child: ChildProcess;
  /** Ends the process; every caller must call it. */
  readonly stop: () => void;
  /** The error of a process that has ended without an answer. */
  readonly explainEnd: () => Error;
}

/** What the rows of a group of 1 GiB need at most when they are decoded. */
const usualHeapMb = 3072;

/** The bundles, which start faster than the compiled files, also when this module runs from src/. */
const programs = import.meta.url.replace(
  /\/(?:src|dist)\/adapters\/parquet\/start-process\.[jt]s$/,
  "/dist/programs/",
);

export async function startProcess(
  name: "convert-process.js" | "features-process.js",
  { workDir, signal, heapMb = usualHeapMb }: ParquetLimits,
): Promise<ParquetProcess> {
  signal.throwIfAborted();
  const sandbox = await createNoSandbox();
  // As much again is for the bytes of pages, which are not on the heap.
  const limits = await limitsFor({ memoryMb: 2 * heapMb }, workDir);
  const args = [`--max-old-space-size=${heapMb}`, fileURLToPath(new URL(name, programs))];
  const command = sandbox.confine(
    { program: "node", file: process.execPath, args, env: {} },
    { workDir, sources: [], limits },
  );
  const child = spawn(command.file, command.args, {
    cwd: workDir,
    env: {},
    detached: true,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", ...extraStreams(command), "ipc"],
  });
  serveExtraStreams(child, command);
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended in the meantime.
    }
  };
  signal.addEventListener("abort", kill, { once: true });
  return {
    child,
    stop: () => {
      signal.removeEventListener("abort", kill);
      kill();
    },
    explainEnd: () =>
      signal.aborted
        ? reasonOf(signal)
        : new ParquetError(
            "FILE_UNREADABLE",
            "The Parquet file needs more memory than this worker gives to one, or is damaged: write it again with smaller row groups.",
          ),
  };
}
