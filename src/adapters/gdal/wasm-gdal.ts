import type { ChildProcess } from "node:child_process";
import { realpath } from "node:fs/promises";
import { ignoreMissing } from "../runtime/error-code.ts";
import { outside } from "./bubblewrap.ts";
import { gdalEnvironment } from "./environment.ts";
import { createNoSandbox } from "./find-sandbox.ts";
import { GdalError, GdalTimeout } from "./gdal-error.ts";
import type { Gdal, GdalOutput, GdalProgram, GdalRunOptions, Unusable } from "./gdal.ts";
import { explainLimit, limitsFor, signalOf } from "./limits.ts";
import type { LimitSettings } from "./limits.ts";
import { reasonOf } from "./run-process.ts";
import type { Sandbox } from "./sandbox.ts";
import { startWasmProcess } from "./start-wasm-process.ts";
import { wasmCapabilities, wasmDrivers, wasmVersion } from "./wasm-capabilities.ts";
import type { TaskFiles } from "./wasm-library.ts";

interface WasmOptions {
  /** Why the installed programs are not used. */
  readonly unusable?: readonly Unusable[] | undefined;
  /** Confines its processes once more, where one works. */
  readonly sandbox?: Sandbox | undefined;
  readonly limits?: LimitSettings | undefined;
}

/** Sent to the process: one run. The next one is sent after the answer. */
export interface RunMessage {
  readonly program: GdalProgram;
  readonly args: readonly string[];
  /** The same in every run of a process. */
  readonly files: TaskFiles;
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

/** An idle process is kept for a while: starting one takes a second, keeping one costs 200 MB. */
const idleMs = 10_000;
const mostIdle = 2;
const mostResident = 700 * 1024 * 1024;

interface WasmProcess {
  readonly child: ChildProcess;
  /** The files that it sees: a process is used again only for the same ones. */
  readonly key: string;
}

export function createWasmGdal(options: WasmOptions = {}): Gdal {
  const { unusable = [], sandbox: given, limits: limitSettings = {} } = options;
  const idle = new Map<WasmProcess, NodeJS.Timeout>();
  let confinement: Promise<Sandbox> | undefined;

  async function take(files: TaskFiles): Promise<WasmProcess> {
    const key = JSON.stringify(files);
    for (const [kept, timer] of idle) {
      if (kept.key !== key) continue;
      clearTimeout(timer);
      idle.delete(kept);
      if (kept.child.connected) return kept;
    }
    const sandbox = given ?? (await (confinement ??= createNoSandbox()));
    const limits = await limitsFor(limitSettings, files.workDir);
    return { key, child: startWasmProcess(files, sandbox, limits) };
  }

  function stopIdle(kept: WasmProcess): void {
    clearTimeout(idle.get(kept));
    idle.delete(kept);
    kill(kept.child);
  }

  function keep(process: WasmProcess): void {
    const [oldest] = idle.keys();
    if (oldest !== undefined && idle.size >= mostIdle) stopIdle(oldest);
    const { child } = process;
    const timer = setTimeout(() => {
      stopIdle(process);
    }, idleMs);
    // An idle process must not keep the worker alive; it ends when the IPC channel closes.
    timer.unref();
    child.unref();
    child.channel?.unref();
    idle.set(process, timer);
  }

  async function runInProcess(message: RunMessage, options: GdalRunOptions): Promise<GdalOutput> {
    const { signal, timeoutMs, onProgress } = options;
    if (signal?.aborted === true) throw reasonOf(signal);
    const process = await take(message.files);
    const { child } = process;
    return new Promise((resolve, reject) => {
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
          kill(child);
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
          if (answer.residentBytes > mostResident) kill(child);
          else keep(process);
          const { ok, stdout, stderr } = answer;
          if (ok) resolve({ stdout, stderr });
          else reject(new GdalError(message.program, 1, stderr));
        });
      });
      child.once("exit", (code, killedBy) => {
        stop(new GdalError(message.program, code, "", killedBy ?? signalOf(code)));
      });
      child.once("error", stop);
      child.send(message);
    });
  }

  return {
    engine: "wasm",
    version: wasmVersion,
    sandbox: given?.kind ?? "wasm",
    unusable,
    capabilities: wasmCapabilities,
    run: async (program, args, options) => {
      // The library's file system does not follow absolute symbolic links.
      const workDir = await realpath(options.workDir);
      const { stdin = "", sources = [] } = options;
      const env = gdalEnvironment({ ...options, workDir }, wasmDrivers);
      const files = { workDir, sources: await findSources(workDir, sources) };
      try {
        return await runInProcess({ program, args, files, stdin, env }, options);
      } catch (error) {
        throw explainLimit(error, await limitsFor(limitSettings, workDir), limitSettings);
      }
    },
  };
}

/** The sources that exist, with their paths without links; GDAL reports the missing ones. */
async function findSources(
  workDir: string,
  sources: readonly string[],
): Promise<TaskFiles["sources"]> {
  const found = await Promise.all(
    outside(workDir, sources).map(async (name) => {
      const file = await realpath(name).catch(ignoreMissing);
      return file === undefined ? [] : [{ name, file }];
    }),
  );
  return found.flat();
}

/** Ends the process and, in a sandbox, the processes that confine it: they are one group. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}
