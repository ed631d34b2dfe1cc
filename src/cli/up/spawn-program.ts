import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Failure } from "../common/failure.ts";

export type ProgramName = "gateway" | "orchestrator" | "worker";

const endWithParent = new URL("../../adapters/runtime/end-with-parent.js", import.meta.url).href;

/**
 * Starts a program as a process that ends with this one, even after `kill -9` (runtime/end-with-parent.ts).
 *
 * The program leads its own session. Ctrl-C in a terminal goes to the whole process group: in our
 * group the program would get the signal twice, once from us, and a second signal ends it at once.
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

/**
 * The built file of a program. Programs never import each other, so they are started as processes.
 */
function programFile(name: ProgramName): string {
  const file = fileURLToPath(new URL(`../../programs/${name}.js`, import.meta.url));
  if (existsSync(file)) return file;
  throw new Failure(`${file} does not exist: run \`npm run build\` in the folder of rmhdag.`);
}
