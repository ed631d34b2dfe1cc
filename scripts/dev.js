/**
 * `npm run dev`: runs `rmhdag up` and, beside it, the console from source on port 5173. A change in
 * src rebuilds the server and restarts `up`; a change in ui shows in the browser at once. Arguments
 * go to `up`. Ctrl-C stops everything, the database too. Types are not checked: npm run check:types.
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
let restarts = Promise.resolve();

const bundle = await context({ ...bundleOptions, logLevel: "error" });
let began = performance.now();
const compiler = ["-p", "tsconfig.build.json", "--noCheck", "--watch", "--preserveWatchOutput"];
watch("server", ["node_modules/typescript/bin/tsc", ...compiler], async (line) => {
  if (line.includes("File change detected")) began = performance.now();
  if (line.includes("error TS")) say(`server: ${line}`);
  if (line.includes("Found 0 errors")) await rebuild();
});
// npm is a script that this Node runs: so it gets the signal that it is sent.
const npm = process.env.npm_execpath ?? "/usr/bin/npm";
watch("console", [npm, "run", "--silent", "watch", "-w", "ui"], (line) => {
  if (/Local:|hmr update|page reload|error/i.test(line)) say(`console: ${line.trim()}`);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void stop());

/** Comes after the compiler, which writes the modules that threads and child processes load. */
async function rebuild() {
  try {
    await removeOldBundles(await bundle.rebuild());
  } catch {
    return; // The bundler has printed why; what runs goes on.
  }
  if (isStopping) return;
  say(`server built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  restarts = restarts.then(restart);
}

async function restart() {
  if (up !== undefined && children.has(up)) {
    const since = performance.now();
    up.kill("SIGTERM");
    await once(up, "exit");
    say(`rmhdag up stopped in ${((performance.now() - since) / 1000).toFixed(1)} s, starts again`);
  }
  if (isStopping) return;
  const child = start(["bin/rmhdag.js", "up", ...process.argv.slice(2)], "inherit");
  up = child;
  child.once("exit", (code) => {
    if (isStopping || child.killed) return;
    say(`rmhdag up ended with ${code}: it starts again with the next build`);
  });
}

function watch(part, args, read) {
  const child = start(args, ["ignore", "pipe", "pipe"]);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => void read(line));
  }
  child.once("exit", (code) => {
    if (!isStopping) say(`${part}: its watcher ended with ${code}, changes are not seen any more`);
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
  const ended = [...children].map((child) => once(child, "exit"));
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(ended);
  await bundle.dispose();
  say("stopped");
}

function say(text) {
  process.stdout.write(`[dev] ${text}\n`);
}
