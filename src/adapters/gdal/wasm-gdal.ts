import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { realpath } from "node:fs/promises";
import { gdalEnvironment } from "./environment.ts";
import { GdalError, GdalTimeout } from "./gdal-error.ts";
import type { Gdal, GdalOutput, GdalProgram, GdalRunOptions } from "./gdal.ts";
import { reasonOf } from "./run-process.ts";
import { wasmCapabilities, wasmVersion } from "./wasm-capabilities.ts";

/** Sent to the process: one run. The next one is sent after the answer. */
export interface RunMessage {
  readonly program: GdalProgram;
  readonly args: readonly string[];
  readonly workDir: string;
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

export type AnswerMessage =
  | { readonly kind: "progress"; readonly percent: number }
  | {
      readonly kind: "done";
      readonly ok: boolean;
      readonly stdout: string;
      readonly stderr: string;
      /** The library never returns memory: the parent replaces a process that has too much. */
      readonly residentBytes: number;
    };

/**
 * The compiled file in dist/, also when this module runs from src/: a process runs JavaScript only.
 */
const processFile = new URL(
  import.meta.url
    .replace(/\/src\/(.*)wasm-gdal\.ts$/, "/dist/$1wasm-gdal.js")
    .replace(/wasm-gdal\.js$/, "wasm-process.js"),
);

/** An idle process is kept for a while: starting one takes a second, keeping one costs 200 MB. */
const idleMs = 10_000;
const mostIdle = 2;
const mostResident = 700 * 1024 * 1024;

export function createWasmGdal(): Gdal {
  const idle = new Map<ChildProcess, NodeJS.Timeout>();

  function take(): ChildProcess {
    for (const [child, timer] of idle) {
      clearTimeout(timer);
      idle.delete(child);
      if (child.connected) return child;
    }
    // Inherits stderr, where Node.js writes the reason when the process crashes.
    return fork(processFile, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  }

  function keep(child: ChildProcess): void {
    if (idle.size >= mostIdle) {
      child.kill("SIGKILL");
      return;
    }
    const timer = setTimeout(() => {
      idle.delete(child);
      child.kill("SIGKILL");
    }, idleMs);
    // An idle process must not keep the worker alive; it ends when the IPC channel closes.
    timer.unref();
    child.unref();
    child.channel?.unref();
    idle.set(child, timer);
  }

  function runInProcess(message: RunMessage, options: GdalRunOptions): Promise<GdalOutput> {
    const { signal, timeoutMs, onProgress } = options;
    if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const child = take();
      child.ref();
      child.channel?.ref();

      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        child.removeAllListeners();
        settle();
      };
      const stop = (reason: Error) => {
        end(() => {
          child.kill("SIGKILL");
          reject(reason);
        });
      };
      const onAbort = () => {
        if (signal !== undefined) stop(reasonOf(signal));
      };
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(() => {
              stop(new GdalTimeout(message.program, timeoutMs));
            }, timeoutMs);
      signal?.addEventListener("abort", onAbort, { once: true });

      child.on("message", (answer: AnswerMessage) => {
        if (answer.kind === "progress") {
          onProgress?.(answer.percent);
          return;
        }
        end(() => {
          if (answer.residentBytes > mostResident) child.kill("SIGKILL");
          else keep(child);
          const { ok, stdout, stderr } = answer;
          if (ok) resolve({ stdout, stderr });
          else reject(new GdalError(message.program, 1, stderr));
        });
      });
      child.once("exit", (code, killedBy) => {
        stop(new GdalError(message.program, code, "", killedBy ?? undefined));
      });
      child.once("error", stop);
      child.send(message);
    });
  }

  return {
    engine: "wasm",
    version: wasmVersion,
    capabilities: wasmCapabilities,
    run: async (program, args, options) => {
      // The library's file system does not follow absolute symbolic links.
      const workDir = await realpath(options.workDir);
      const { stdin = "" } = options;
      const env = gdalEnvironment(args, { ...options, workDir });
      return runInProcess({ program, args, workDir, stdin, env }, options);
    },
  };
}
