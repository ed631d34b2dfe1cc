/**
 * Builds the server, the console or both where a source is newer than what was built:
 *   node scripts/build-stale.js server ui
 * Tests start the programs of dist and open the pages of ui/dist, so they call this first.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");

/** What each build writes last, and what it reads. */
const parts = {
  server: { output: "dist/programs/cli.js", sources: ["src", "scripts/bundle.js"] },
  ui: {
    output: "ui/dist/index.html",
    sources: ["ui/src", "ui/index.html", "ui/vite.config.ts", "src/core"],
  },
};

for (const name of process.argv.slice(2)) {
  const { output, sources } = parts[name];
  if (lastChange(output) > Math.max(...sources.map(lastChange))) continue;
  const { status } = spawnSync("npm", ["run", "--silent", `build:${name}`], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) process.exitCode = 1;
}

/** Of a file, or of anything in a folder but tests; 0 where there is nothing. */
function lastChange(name) {
  const place = path.join(root, name);
  const facts = statSync(place, { throwIfNoEntry: false });
  if (facts === undefined) return 0;
  if (!facts.isDirectory()) return facts.mtimeMs;
  const entries = readdirSync(place, { recursive: true }).filter(
    (entry) => !/\.test\.tsx?$/.test(entry),
  );
  const times = entries.map((entry) => statSync(path.join(place, entry)).mtimeMs);
  return Math.max(facts.mtimeMs, ...times);
}
