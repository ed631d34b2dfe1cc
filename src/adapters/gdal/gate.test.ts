/**
 * A program of GDAL ends with its worker, at whatever moment that is killed. Each worker here is a
 * process that starts one program, which would wait for ever for its input, and then kills itself.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { createNoSandbox, findSandbox } from "./find-sandbox.ts";
import { limitsFor } from "./limits.ts";
import type { GdalLimits } from "./limits.ts";

const gdalinfo = "/usr/bin/gdalinfo";
/** Milliseconds after the start; a sandbox of bubblewrap is ready after five to ten. */
const moments = [0, 0, 1, 2, 4, 6, 8, 10, 15, 25];

let workDir: string;
/** Nothing ever writes to it. */
let fifo: string;
let limits: GdalLimits;
beforeAll(async () => {
  workDir = await mkdtemp(path.join(tmpdir(), "rmhdag-gate-"));
  fifo = path.join(workDir, "never.vrt");
  await promisify(execFile)("mkfifo", [fifo]);
  limits = await limitsFor({}, workDir);
});
afterAll(() => rm(workDir, { recursive: true, force: true }));

const built = (name: string) => new URL(`../../../dist/adapters/gdal/${name}.js`, import.meta.url);

/** A worker that kills itself, so that no message between processes delays its end. */
function startWorker(script: string, delayMs: number | undefined) {
  const end = delayMs === 0 ? "die();" : `setTimeout(die, ${delayMs});`;
  const text = `const die = () => process.kill(process.pid, "SIGKILL");
    ${script}
    ${delayMs === undefined ? "" : end}`;
  return spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: "ignore" });
}

/** What runs with a file of this test, without the workers themselves. */
async function running(): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "stat,args"]);
  const isOurs = (line: string) => line.includes(workDir) && !line.includes("--input-type");
  return stdout.split("\n").filter((line) => isOurs(line) && !line.startsWith("Z"));
}

async function expectEndOf(script: string, delays: readonly number[], isProgram: RegExp) {
  await Promise.all(delays.map((delayMs) => once(startWorker(script, delayMs), "exit")));
  await waitFor(async () => (await running()).length === 0, { what: "the end of all" });

  const worker = startWorker(script, undefined);
  const isRunning = async () => (await running()).some((line) => isProgram.test(line));
  await waitFor(isRunning, { what: "the program" });
  worker.kill("SIGKILL");
  await waitFor(async () => (await running()).length === 0, { what: "its end" });
}

describe.each(["bubblewrap", "namespaces", "none"] as const)("%s", async (kind) => {
  const { sandbox, unusable } = await findSandbox([gdalinfo], [kind]);
  const why = unusable.map(({ reason }) => ` (needs it: ${reason.slice(0, 80)})`).join("");

  it.skipIf(sandbox === undefined)(`ends with its worker${why}`, { timeout: 60_000 }, async () => {
    const command = { program: "gdalinfo", file: gdalinfo, args: [fifo], env: {} };
    const { extraInput, ...confined } = sandbox!.confine(command, { workDir, sources: [], limits });
    expect(confined.hasGate).toBe(true);
    const script = `import { runProcess } from ${JSON.stringify(built("run-process").href)};
      const command = ${JSON.stringify(confined)};
      const bytes = ${JSON.stringify(extraInput === undefined ? null : [...extraInput])};
      if (bytes !== null) command.extraInput = Uint8Array.from(bytes);
      void runProcess(command, ${JSON.stringify({ workDir })});`;
    await expectEndOf(script, moments, /^\S+\s+\/usr\/bin\/gdalinfo /);
  });
});

it("ends as WebAssembly with its worker", { timeout: 60_000 }, async () => {
  expect((await createNoSandbox()).kind).toBe("none");
  const message = {
    program: "gdalinfo",
    args: [fifo],
    stdin: "",
    env: {},
    files: { workDir, sources: [] },
  };
  const script = `import { startWasmProcess } from ${JSON.stringify(built("start-wasm-process").href)};
    import { createNoSandbox } from ${JSON.stringify(built("find-sandbox").href)};
    const child = startWasmProcess(${JSON.stringify(message.files)}, await createNoSandbox(), ${JSON.stringify(limits)});
    child.send(${JSON.stringify(message)});`;
  await expectEndOf(script, [0, 5, 50, 200], /wasm-process\.js/);
});
