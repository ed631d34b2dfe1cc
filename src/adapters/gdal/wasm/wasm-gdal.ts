import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { realpath } from "node:fs/promises";
import { gdalEnvironment } from "../environment.ts";
import type { Gdal, GdalOutput, GdalRunOptions } from "../gdal.ts";
import { GdalError, GdalTimeout } from "../gdal-error.ts";
import { reasonOf } from "../run-process.ts";
import { wasmCapabilities, wasmVersion } from "./capabilities.ts";
import type { AnswerMessage, RunMessage } from "./protocol.ts";

/** As with threads: a process runs a file of JavaScript, also when this one runs as TypeScript. */
const processFile = new URL(
  import.meta.url
    .replace(/\/src\/(.*)wasm-gdal\.ts$/, "/dist/$1wasm-gdal.js")
    .replace(/wasm-gdal\.js$/, "wasm-process.js"),
);

/** Starting one takes a second; keeping one costs 200 MB. */
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
    // stderr is inherited for what the runtime itself says when it dies.
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
    // An idle process must not keep ours from ending; it ends when the channel closes.
    timer.unref();
    child.unref();
    child.channel?.unref();
    idle.set(child, timer);
  }

  function talk(message: RunMessage, options: GdalRunOptions): Promise<GdalOutput> {
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
      // The library's file system does not follow absolute links.
      const workDir = await realpath(options.workDir);
      const { stdin = "" } = options;
      const env = gdalEnvironment(args, { ...options, workDir });
      return talk({ program, args, workDir, stdin, env }, options);
    },
  };
}
