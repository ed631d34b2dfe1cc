/**
 * `npm run check`: runs every check, two at a time, because each keeps one core busy. The output of a
 * check that fails is printed when that check ends; the others run to their end.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import os from "node:os";

/** The longest first. */
const checks = ["lint", "types", "format", "generated", "unused", "folders"];
const atOnce = 2;
/** For programs in Go, the compiler and the linter: two threads of one would do part of the work twice. */
const env = { ...process.env, GOMAXPROCS: "1" };

// Tests have time-outs, and a check has none: it takes what they leave.
if (process.argv.includes("--beside-tests")) os.setPriority(os.constants.priority.PRIORITY_LOW);

const waiting = [...checks];
const failed = [];
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await check(name);
  }),
);
if (failed.length > 0) {
  process.stderr.write(`\nfailed: ${failed.map((name) => `npm run check:${name}`).join(", ")}\n`);
  process.exit(1);
}

async function check(name) {
  const child = spawn("npm", ["run", "--silent", `check:${name}`], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  const [code] = await once(child, "close");
  process.stdout.write(`${code === 0 ? "✓" : "✗"} check:${name}\n`);
  if (code === 0) return;
  failed.push(name);
  for (const chunk of output) process.stdout.write(chunk);
}
