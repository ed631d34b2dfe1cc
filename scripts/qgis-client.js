// Runs QGIS against the layers of `rmhdag demo`:
//   npm run test:qgis -- --pictures /tmp/pictures
// It needs PyQGIS of the system (Debian: python3-qgis, qgis-providers), whose Python is not that of
// other installations, and no display. The pictures of each layer are kept where that is asked for.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    python: { type: "string", default: "/usr/bin/python3" },
    pictures: { type: "string" },
  },
});

const folder = mkdtempSync(path.join(tmpdir(), "rmhdag-qgis-"));
// As root the database runs as another user, who must be able to enter.
chmodSync(folder, 0o755);
const pictures = values.pictures ?? path.join(folder, "pictures");
mkdirSync(pictures, { recursive: true });
const demo = spawn(
  process.execPath,
  [path.join(root, "bin/rmhdag.js"), "demo", "--json", "--port", "0", "--data-dir", folder],
  { stdio: ["ignore", "pipe", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
process.once("exit", () => demo.kill("SIGTERM"));
try {
  process.exitCode = await run();
} finally {
  demo.kill("SIGTERM");
  if (demo.exitCode === null) await once(demo, "exit");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function run() {
  let summary = "";
  for await (const chunk of demo.stdout) {
    summary += chunk;
    if (isWhole(summary)) break;
  }
  demo.stdout.resume();
  const data = path.join(folder, "demo");
  const read = (name) => readFileSync(path.join(data, name), "utf8").trim();
  const script = path.join(root, "scripts/qgis-client.py");
  const qgis = spawn(values.python, [script, read("url"), read("cli-token"), pictures], {
    stdio: "inherit",
  });
  const [code] = await once(qgis, "exit");
  process.stdout.write(code === 0 ? "no findings\n" : "findings\n");
  return code ?? 1;
}

function isWhole(json) {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
