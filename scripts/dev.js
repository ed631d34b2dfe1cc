/**
 * `npm run dev`: runs `rmhdag up`, rebuilds the server and the console when a source changes, and
 * restarts `up` with each build. Arguments go to `up`: npm run dev -- --port 9000. Ctrl-C stops
 * everything, the database too. Types are not checked here: npm run check:types does.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { context } from "esbuild";
import { bundleOptions, removeOldBundles } from "./bundle.js";

const root = path.resolve(import.meta.dirname, "..");
const children = new Set();
let up;
let isStopping = false;
/** Parts that have not been built for the first time yet; `up` starts when none is left. */
const missing = new Set(["server", "console"]);
let restarts = Promise.resolve();

const bundle = await context({ ...bundleOptions, logLevel: "error" });

watch("server", ["node_modules/typescript/bin/tsc", ...compilerArgs()], async (line) => {
  const [, errors] = /Found (\d+) errors?\. Watching/.exec(line) ?? [];
  if (errors === undefined) {
    // The compiler names each error on a line of its own.
    if (line.includes("error TS")) say(line);
    return false;
  }
  if (errors !== "0") return false;
  return bundle.rebuild().then(
    async (result) => {
      await removeOldBundles(result);
      return true;
    },
    () => false,
  );
});

watch("console", consoleArgs(), async (line) => {
  if (/error during build|Build failed|Error:/i.test(line)) say(line);
  return /built in/.test(line);
});

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void stop());

function compilerArgs() {
  return ["-p", "tsconfig.build.json", "--noCheck", "--watch", "--preserveWatchOutput"];
}

/** npm is a script that this Node runs, so that it ends with the signal that it is sent. */
function consoleArgs() {
  return [process.env.npm_execpath ?? "/usr/bin/npm", "run", "watch", "-w", "ui"];
}

/** Runs a watcher; `isBuilt` answers for each line of its output whether a build has ended well. */
function watch(part, args, isBuilt) {
  const child = start(args, ["ignore", "pipe", "pipe"]);
  let began = performance.now();
  const read = async (line) => {
    if (/Starting|File change detected|build started/.test(line)) began = performance.now();
    if (!(await isBuilt(line)) || isStopping) return;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const isFirst = missing.delete(part);
    say(`${part} ${isFirst ? "built" : "rebuilt"} in ${seconds} s`);
    if (missing.size === 0) restarts = restarts.then(restart);
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => void read(line));
  }
  child.once("exit", (code) => {
    if (isStopping) return;
    say(`the watcher of the ${part} ended with ${code}: it is not rebuilt any more`);
    missing.delete(part);
    if (missing.size === 0 && up === undefined) restarts = restarts.then(restart);
  });
}

async function restart() {
  if (isStopping) return;
  const began = performance.now();
  if (up !== undefined) {
    up.kill("SIGTERM");
    if (children.has(up)) await once(up, "exit");
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(`rmhdag up stopped in ${seconds} s and starts again`);
  }
  if (isStopping) return;
  const child = start(["bin/rmhdag.js", "up", ...process.argv.slice(2)], "inherit");
  up = child;
  child.once("exit", (code) => {
    if (isStopping || up !== child || child.killed) return;
    say(`rmhdag up ended with ${code}: it starts again with the next build`);
  });
}

function start(args, stdio) {
  const child = spawn(process.execPath, args, { cwd: root, stdio });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Waits for `up`, which stops its programs and then the database. */
async function stop() {
  if (isStopping) return;
  isStopping = true;
  for (const child of children) child.kill("SIGTERM");
  await Promise.all([...children].map((child) => once(child, "exit")));
  await bundle.dispose();
  say("stopped");
}

function say(text) {
  process.stdout.write(`[dev] ${text}\n`);
}
