// Runs pystac-client and stac-api-validator against an orchestrator with a small catalogue:
//   npm run test:stac
// Both come from PyPI into a virtual environment in the user's cache folder. The validator reads the
// schemas of STAC from their addresses, so it needs the network.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { installPython } from "./install-python.js";

const packages = ["pystac-client==0.9.1", "stac-api-validator==0.6.8"];
const conformance = [
  // Without "transaction": the validator takes 200 after PUT and 404 after DELETE for errors, which the
  // extension allows. Without "query": it sends numbers as texts, which equal no number here.
  ...["core", "item-search", "features", "collections", "filter"],
  ...["item-search#sort", "item-search#fields", "features#sort", "features#fields"],
];
/** The validator wants the nested property left out of answers that exclude another field. */
const mistaken =
  /POST .*'exclude': \['geometry'\].* response contained 'properties\.eo:cloud_cover'/;
const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    python: { type: "string" },
    conformance: { type: "string", multiple: true, default: conformance },
  },
});

const children = [];
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

const bin =
  values.python === undefined
    ? installPython("stac-clients", packages)
    : path.join(values.python, "bin");
const folder = mkdtempSync(path.join(tmpdir(), "rmhdag-stac-"));
// As root the database runs as another user, who must be able to enter.
chmodSync(folder, 0o755);
const database = await startEmbeddedPostgres({ dataDirectory: path.join(folder, "postgres") });
let failed = [];
try {
  failed = await run();
} finally {
  for (const child of children.splice(0)) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await database.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
process.stdout.write(failed.length === 0 ? "no findings\n" : `findings: ${failed.join(", ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function run() {
  await migrate(database.url);
  const token = randomBytes(16).toString("hex");
  const sha256 = createHash("sha256").update(token).digest("hex");
  const url = await startOrchestrator({
    DATABASE_URL: database.url,
    RMHDAG_DATA_DIR: path.join(folder, "data"),
    RMHDAG_WORKFLOWS: path.join(root, "workflows"),
    DAG_SERVICE_TOKENS: `all:read+operate+curate:${sha256}`,
    LOG_FORMAT: "text",
  });
  await seed(url, token);
  const checks = {
    "pystac-client": ["python", [path.join(root, "scripts/stac-clients.py"), url, token]],
    "stac-api-validator": [
      "stac-api-validator",
      [
        ...["--root-url", `${url}/stac`, "--auth-bearer-token", token],
        ...values.conformance.flatMap((each) => ["--conformance", each]),
        ...["--collection", "alps"],
        ...["--geometry", JSON.stringify({ type: "Point", coordinates: [7.02, 46.5] })],
        ...["--fields-nested-property", "properties.eo:cloud_cover"],
      ],
    ],
  };
  const found = [];
  for (const [name, [program, args]] of Object.entries(checks)) {
    process.stdout.write(`${name}\n`);
    const child = spawn(path.join(bin, program), args, {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
      process.stdout.write(chunk);
    });
    const [status] = await once(child, "close");
    children.splice(children.indexOf(child), 1);
    if (!isGood(status, output)) found.push(name);
  }
  return found;
}

/** The validator exits with 0 after an exception of its own. */
function isGood(status, output) {
  if (/^Failed\.$/m.test(output)) return false;
  if (status === 0) return true;
  const errors = (output.split(/^Errors:/m)[1] ?? "").match(/^- .*$/gm) ?? [];
  return errors.length > 0 && errors.every((line) => mistaken.test(line));
}

/** Two collections and thirty items, by the API itself. */
async function seed(url, token) {
  const post = async (route, body) => {
    const answer = await fetch(`${url}/stac/collections${route}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${route}: ${await answer.text()}`);
  };
  for (const id of ["alps", "written"]) {
    await post("", { id, title: id, description: `The ${id}.`, license: "other" });
  }
  const features = Array.from({ length: 30 }, (_, index) => {
    const west = 7 + index / 100;
    const ring = [
      [west, 46],
      [west + 0.5, 46],
      [west + 0.5, 47],
      [west, 47],
      [west, 46],
    ];
    return {
      type: "Feature",
      id: `scene-${index}`,
      geometry: { type: "Polygon", coordinates: [ring] },
      properties: {
        datetime: `2024-05-${String(index + 1).padStart(2, "0")}T10:00:00Z`,
        "eo:cloud_cover": index,
        platform: index % 2 === 0 ? "sentinel-2a" : "sentinel-2b",
      },
      assets: { data: { href: `https://example.org/${index}.tif`, type: "image/tiff" } },
    };
  });
  await post("/alps/items", { type: "FeatureCollection", features });
}

async function startOrchestrator(env) {
  const port = await freePort();
  const child = spawn(process.execPath, [path.join(root, "dist/programs/orchestrator.js")], {
    env: { PATH: process.env.PATH, ORCHESTRATOR_PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes("orchestrator started")) break;
  }
  child.stdout.resume();
  if (!output.includes("orchestrator started")) throw new Error(`it did not start:\n${output}`);
  return `http://127.0.0.1:${port}`;
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}
