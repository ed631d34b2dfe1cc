/**
 * The process in which the WebAssembly library runs. A run blocks the event loop, so the process
 * cannot receive messages during it: the parent stops a run by killing the process.
 */
import { Calls } from "./wasm-calls.ts";
import { loadLibrary } from "./wasm-library.ts";
import type { AnswerMessage, RunMessage } from "./wasm-gdal.ts";
import { runProgram } from "./wasm-run-program.ts";

let stdout: string[] = [];
let stderr: string[] = [];
let calls: Calls | undefined;

async function answer(message: RunMessage): Promise<void> {
  const { env, program, args, stdin, workDir } = message;
  // GDAL_SKIP is read only when drivers are registered: that of the first run applies to all runs.
  calls ??= new Calls(
    await loadLibrary({
      env,
      onOutput: (line) => stdout.push(`${line}\n`),
      onError: (line) => stderr.push(`${line}\n`),
    }),
  );
  [stdout, stderr] = [[], []];
  for (const [key, value] of Object.entries(env)) calls.configure(key, value);
  let ok = false;
  let lastPercent = -1;
  try {
    calls.library.FS.chdir(workDir);
    ok = runProgram(calls, {
      program,
      args,
      stdin,
      print: (text) => stdout.push(text),
      complain: (text) => stderr.push(`${text}\n`),
      progress: (percent) => {
        if (percent - lastPercent < 1 && percent < 100) return;
        lastPercent = percent;
        send({ kind: "progress", percent });
      },
    });
  } catch (error) {
    stderr.push(`ERROR 1: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  for (const key of Object.keys(env)) calls.configure(key, null);
  const { rss } = process.memoryUsage();
  send({ kind: "done", ok, stdout: stdout.join(""), stderr: stderr.join(""), residentBytes: rss });
}

function send(message: AnswerMessage): void {
  process.send?.(message);
}

process.on("message", (message) => {
  void answer(message as RunMessage);
});
process.on("disconnect", () => {
  process.exit();
});
