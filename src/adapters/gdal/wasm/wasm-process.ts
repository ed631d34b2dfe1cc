/**
 * A process with the library in it. It is busy for as long as a program runs and cannot listen
 * meanwhile: to stop it is to kill it.
 */
import { Calls } from "./library-calls.ts";
import { loadLibrary } from "./emscripten.ts";
import type { AnswerMessage, RunMessage } from "./protocol.ts";
import { runProgram } from "./run-program.ts";

let stdout: string[] = [];
let stderr: string[] = [];
let calls: Calls | undefined;

async function answer(message: RunMessage): Promise<void> {
  const { env, program, args, stdin, workDir } = message;
  // GDAL_SKIP counts only when the drivers are registered: the first run's settings stand for all.
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
  let told = -1;
  try {
    calls.library.FS.chdir(workDir);
    ok = runProgram(calls, {
      ...{ program, args, stdin },
      print: (text) => stdout.push(text),
      complain: (text) => stderr.push(`${text}\n`),
      progress: (percent) => {
        if (percent - told < 1 && percent < 100) return;
        told = percent;
        tell({ kind: "progress", percent });
      },
    });
  } catch (error) {
    stderr.push(`ERROR 1: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  for (const key of Object.keys(env)) calls.configure(key, null);
  const { rss } = process.memoryUsage();
  tell({ kind: "done", ok, stdout: stdout.join(""), stderr: stderr.join(""), residentBytes: rss });
}

function tell(message: AnswerMessage): void {
  process.send?.(message);
}

process.on("message", (message) => {
  void answer(message as RunMessage);
});
process.on("disconnect", () => {
  process.exit();
});
