import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import type { ProgramName } from "./program-file.ts";
import { programFile } from "./program-file.ts";

const endWithParent = new URL("./end-with-parent.js", import.meta.url).href;

/**
 * Starts a program that ends with this process, however that ends: the IPC channel tells it (see
 * runtime/parent.ts). It leads a session of its own, because Ctrl-C in a terminal goes to the whole
 * group: the program would get it twice, once from us, and a second signal means "at once".
 */
export function spawnProgram(
  name: ProgramName,
  env: NodeJS.ProcessEnv,
  output: "inherit" | "pipe",
): ChildProcess {
  const args = ["--enable-source-maps", "--import", endWithParent, programFile(name)];
  return spawn(process.execPath, args, {
    detached: true,
    env,
    stdio: ["ignore", output, output, "ipc"],
  });
}
