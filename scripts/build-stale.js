/**
 * Builds the server, the console or both at once where a source is newer than what was built:
 *   node scripts/build-stale.js server ui
 * With --all it builds them in any case. Tests start the programs of dist and open the pages of
 * ui/dist, so they call this first.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
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

const isAll = process.argv.includes("--all");
const wanted = process.argv.slice(2).filter((name) => name !== "--all");
await Promise.all(wanted.filter((name) => isAll || isStale(parts[name])).map(build));

function isStale({ output, sources }) {
  return lastChange(output) <= Math.max(...sources.map(lastChange));
}

async function build(name) {
  const [code] = await once(
    spawn("npm", ["run", "--silent", `build:${name}`], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
    }),
    "close",
  );
  if (code !== 0) process.exitCode = 1;
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
