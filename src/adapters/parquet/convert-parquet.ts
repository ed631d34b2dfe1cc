/**
 * Converts GeoParquet to CSV in a process of its own. A file of a few hundred bytes can say that it
 * holds as many rows as it likes, and the memory that they take ends the process that reads them: it
 * must not be the worker, with all its other tasks.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createNoSandbox } from "../gdal/find-sandbox.ts";
import { limitsFor } from "../gdal/limits.ts";
import { extraStreams, reasonOf, serveExtraStreams } from "../gdal/run-process.ts";
import { ParquetError } from "./read-parquet.ts";
import type { ParquetProblem, ReadParquet } from "./read-parquet.ts";

export interface ConvertMessage {
  readonly path: string;
  readonly target: string;
  readonly geometryColumn: string | undefined;
}

export type ConvertAnswer =
  | {
      readonly kind: "done";
      readonly facts: Omit<ReadParquet, "types" | "rawColumns">;
      readonly types: readonly (readonly [string, string])[];
      readonly rawColumns: readonly (readonly [string, string])[];
    }
  | { readonly kind: "refused"; readonly code: ParquetProblem; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The compiled file in dist/, also when this module runs from src/. */
const processFile = fileURLToPath(
  import.meta.url
    .replace(/\/src\/(.*)convert-parquet\.ts$/, "/dist/$1convert-parquet.js")
    .replace(/convert-parquet\.js$/, "parquet-process.js"),
);

/** What the rows of a group of 1 GiB need at most when they are decoded. */
const usualHeapMb = 3072;

export async function convertParquet(
  message: ConvertMessage,
  {
    workDir,
    signal,
    heapMb = usualHeapMb,
  }: { readonly workDir: string; readonly signal: AbortSignal; readonly heapMb?: number },
): Promise<ReadParquet> {
  signal.throwIfAborted();
  const sandbox = await createNoSandbox();
  const limits = await limitsFor({}, workDir);
  const args = [`--max-old-space-size=${heapMb}`, processFile];
  const command = sandbox.confine(
    { program: "node", file: process.execPath, args, env: {} },
    { workDir, sources: [], limits },
  );
  const child = spawn(command.file, command.args, {
    cwd: workDir,
    env: {},
    detached: true,
    stdio: ["ignore", "ignore", "ignore", ...extraStreams(command), "ipc"],
  });
  serveExtraStreams(child, command);
  const stop = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended in the meantime.
    }
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const answer = await new Promise<ConvertAnswer | undefined>((resolve, reject) => {
      child.once("message", (given: ConvertAnswer) => {
        resolve(given);
      });
      child.once("error", reject);
      child.once("exit", () => {
        resolve(undefined);
      });
      child.send(message, () => undefined);
    });
    if (answer === undefined) {
      if (signal.aborted) throw reasonOf(signal);
      throw new ParquetError(
        "FILE_UNREADABLE",
        "The Parquet file needs more memory than this worker gives to one, or is damaged: write it again with smaller row groups.",
      );
    }
    if (answer.kind === "refused") throw new ParquetError(answer.code, answer.message);
    if (answer.kind === "failed") throw new Error(answer.message);
    return {
      ...answer.facts,
      types: new Map(answer.types as [string, never][]),
      rawColumns: new Map(answer.rawColumns as [string, never][]),
    };
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}
