import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessByStdio } from "node:child_process";
import { Writable } from "node:stream";
import type { Readable } from "node:stream";
import { openGate } from "./gate.ts";
import { GdalError, GdalTimeout } from "./gdal-error.ts";
import type { GdalOutput, GdalRunOptions } from "./gdal.ts";
import { signalOf } from "./limits.ts";

/** Larger than any description of a file; a program that prints more is killed. */
const largestOutput = 64 * 1024 * 1024;

export interface Command {
  /** The program's name in error messages. */
  readonly program: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Bytes that it reads from its file descriptor 3. */
  readonly extraInput?: Uint8Array | undefined;
  /** True: it waits for an answer on its file descriptor 4 (gate.ts). */
  readonly hasGate?: boolean;
}

/**
 * Runs one program to its end, without a shell. The program leads its own process group, so that
 * stopping it also stops the processes that it has started.
 */
export function runProcess(command: Command, options: GdalRunOptions): Promise<GdalOutput> {
  const { signal, timeoutMs, onProgress, stdin, workDir } = options;
  if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    const child = spawn(command.file, command.args, {
      cwd: workDir,
      env: command.env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", ...extraStreams(command)],
    }) as ChildProcessByStdio<Writable, Readable, Readable>;
    serveExtraStreams(child, command);
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
        // The program has ended in the meantime.
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
    // A program that does not read its input, or has ended, closes the pipe: not a failure.
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
        else reject(new GdalError(command.program, code, text, killedBy ?? signalOf(code)));
      });
    });
  });
}

/** The kinds of the file descriptors 3 and 4 of a command. */
export function extraStreams({ extraInput, hasGate = false }: Command): ("pipe" | "ignore")[] {
  return [extraInput === undefined ? "ignore" : "pipe", hasGate ? "pipe" : "ignore"];
}

export function serveExtraStreams(child: ChildProcess, { extraInput }: Command): void {
  const extra = child.stdio[3];
  if (extra instanceof Writable) extra.on("error", () => undefined).end(extraInput);
  openGate(child);
}

export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error("The work was stopped.");
}

/**
 * Reads GDAL's progress bar, `0...10...20` up to `100 - done.`, from pieces of text as they come. A
 * dot is 2.5 percent. A program that works in several passes shows several bars.
 */
export function createProgressReader(
  onProgress: (percent: number) => void,
): (text: string) => void {
  let digits = "";
  let percent = -1;

  function report(next: number): void {
    if (next === percent || next > 100) return;
    percent = next;
    onProgress(next);
  }

  return (text) => {
    for (const character of text) {
      if (character >= "0" && character <= "9") {
        digits += character;
        // No dot follows 0 and 100 that would end the number.
        if (digits === "0" || digits === "100") report(Number(digits));
        continue;
      }
      const isStep = digits !== "" && digits.length <= 2 && Number(digits) % 10 === 0;
      if (character === "." && isStep) report(Number(digits));
      if (character === "." && percent >= 0) report(percent + 2.5);
      if (character === "\n") percent = -1;
      digits = "";
    }
  };
}
