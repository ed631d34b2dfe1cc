/** Our real programs, as a site would start them; they end with the process that started them. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = new URL("../../", import.meta.url);

/** Resolves when the program says that it has started, with the fields of that line. */
export async function startProgram(name, env, { cpuProf, root = here } = {}) {
  const endWithParent = new URL("dist/adapters/runtime/end-with-parent.js", root).href;
  const profile =
    cpuProf === undefined
      ? []
      : ["--cpu-prof", "--cpu-prof-interval=200", `--cpu-prof-dir=${cpuProf}`];
  const file = fileURLToPath(new URL(`dist/programs/${name}.js`, root));
  const child = spawn(process.execPath, [...profile, "--import", endWithParent, file], {
    env: { PATH: process.env.PATH, LOG_LEVEL: "info", LOG_FORMAT: "json", ...env },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    // Ctrl-C in a terminal reaches the whole group; the harness stops what it started, in order.
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const fields = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`the ${name} ended with ${code} while starting`)),
    );
    createInterface({ input: child.stdout }).on("line", (line) => {
      const entry = parse(line);
      if (entry.msg === `${name} started`) resolve(entry);
      else if (Number(entry.level ?? 30) >= 40) warn(name, entry);
    });
  });
  return {
    pid: child.pid,
    fields,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** A benchmark in which something went wrong measures that. */
function warn(name, { msg, err }) {
  process.stderr.write(`${name}: ${msg}${err === undefined ? "" : ` (${err.message})`}\n`);
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
