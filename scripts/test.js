/**
 * `npm test`: builds what is stale, then runs every test and, at the lowest priority, every check.
 * Tests wait a lot (for leases, servers, a browser); the checks use the processor meanwhile.
 * Arguments go to vitest. Checks print their findings after the tests.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const script = (name) => path.join(root, "scripts", name);

const built = spawnSync(process.execPath, [script("build-stale.js"), "server", "ui"], {
  stdio: "inherit",
});
if (built.status !== 0) process.exit(1);

const checks = spawn(process.execPath, [script("check.js"), "--beside-tests"], {
  stdio: ["ignore", "pipe", "pipe"],
});
const findings = [];
for (const stream of [checks.stdout, checks.stderr]) {
  stream.on("data", (chunk) => findings.push(chunk));
}
const checked = once(checks, "close");
const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
const tests = spawn(process.execPath, [vitest, "run", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
const [testCode] = await once(tests, "close");
const [checkCode] = await checked;
for (const chunk of findings) process.stdout.write(chunk);
process.exitCode = testCode === 0 && checkCode === 0 ? 0 : 1;
