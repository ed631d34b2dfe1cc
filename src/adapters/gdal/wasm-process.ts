/**
 * The process in which the WebAssembly library runs, for one work folder and its sources. A run
 * blocks the event loop, so the process cannot receive messages during it: the parent stops a run by
 * killing the process.
 */
import { setFlagsFromString } from "node:v8";
import { wasmDrivers } from "./wasm-capabilities.ts";
import { Calls } from "./wasm-calls.ts";
import { loadLibrary } from "./wasm-library.ts";
import type { AnswerMessage, RunMessage } from "./wasm-gdal.ts";
import { runProgram } from "./wasm-run-program.ts";

// V8 optimises a function after this much work in it. Its own limit lets runs on small files, which are
// most, spend half of their time on that; a run on a large file reaches this one in milliseconds.
setFlagsFromString("--wasm-tiering-budget=100000000");

let stdout: string[] = [];
let stderr: string[] = [];
let calls: Calls | undefined;
/** The GDAL_SKIP with which the drivers were registered. */
let skipped: string | undefined;

async function answer(message: RunMessage): Promise<void> {
  const { env, program, args, stdin, files } = message;
  calls ??= new Calls(
    await loadLibrary({
      // PROJ reads its level of messages once; GDAL shows them in runs with CPL_DEBUG=PROJ only.
      env: { ...env, PROJ_DEBUG: "2" },
      files,
      onOutput: (line) => stdout.push(`${line}\n`),
      onError: (line) => stderr.push(`${line}\n`),
    }),
  );
  [stdout, stderr] = [[], []];
  for (const [key, value] of Object.entries(env)) calls.configure(key, value);
  if (env["GDAL_SKIP"] !== skipped) {
    registerDrivers(calls, (skipped = env["GDAL_SKIP"] ?? ""));
  }
  let ok = false;
  let lastPercent = -1;
  try {
    calls.library.FS.chdir(files.workDir);
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
  // Not process.memoryUsage, which reads /proc: a sandbox has none.
  const residentBytes = process.resourceUsage().maxRSS * 1024;
  send({ kind: "done", ok, stdout: stdout.join(""), stderr: stderr.join(""), residentBytes });
}

/**
 * GDAL reads GDAL_SKIP when it registers its drivers. All are removed first, because GDAL asks them
 * in the order of their registration, which must not depend on earlier runs.
 */
function registerDrivers(calls: Calls, skip: string): void {
  for (const names of [wasmDrivers.join(","), skip]) {
    calls.configure("GDAL_SKIP", names);
    calls.library.ccall("GDALAllRegister", null, [], []);
  }
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
