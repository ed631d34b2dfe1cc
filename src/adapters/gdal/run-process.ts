import { spawn } from "node:child_process";
import type { GdalOutput, GdalRunOptions } from "./gdal.ts";
import { GdalError, GdalTimeout } from "./gdal-error.ts";
import { createProgressReader } from "./progress.ts";

/** More than any description of a file; a program that prints its data here is used wrongly. */
const largestOutput = 64 * 1024 * 1024;

export interface Command {
  /** For messages. */
  readonly program: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * One program from start to end, without a shell. It leads a process group of its own, so that
 * whatever it starts ends with it when it is stopped.
 */
export function runProcess(command: Command, options: GdalRunOptions): Promise<GdalOutput> {
  const { signal, timeoutMs, onProgress, stdin, workDir } = options;
  if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    const child = spawn(command.file, command.args, {
      cwd: workDir,
      env: command.env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const stdout: string[] = [];
    const stderr: string[] = [];
    let printed = 0;
    let failure: Error | undefined;

    function stop(reason: Error): void {
      failure ??= reason;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended by itself meanwhile.
      }
    }
    const onAbort = () => {
      if (signal !== undefined) stop(reasonOf(signal));
    };
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            stop(new GdalTimeout(command.program, timeoutMs));
          }, timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });

    const readProgress = onProgress === undefined ? undefined : createProgressReader(onProgress);
    const collect = (parts: string[]) => (text: string) => {
      printed += text.length;
      if (printed > largestOutput) {
        stop(
          new GdalError(
            command.program,
            null,
            `ERROR: it printed more than ${largestOutput} bytes`,
          ),
        );
      } else parts.push(text);
    };
    const keepOutput = collect(stdout);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      keepOutput(text);
      readProgress?.(text);
    });
    child.stderr.setEncoding("utf8").on("data", collect(stderr));
    // A program that does not read its input, or is gone already, is no failure of ours.
    child.stdin.on("error", () => undefined).end(stdin ?? "");

    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      end();
    };
    child.once("error", (error) => {
      settle(() => {
        reject(failure ?? error);
      });
    });
    child.once("close", (code, killedBy) => {
      settle(() => {
        const text = stderr.join("");
        if (failure !== undefined) reject(failure);
        else if (code === 0) resolve({ stdout: stdout.join(""), stderr: text });
        else reject(new GdalError(command.program, code, text, killedBy ?? undefined));
      });
    });
  });
}

export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error("The work was stopped.");
}
