// Runs Schemathesis with all its checks against the orchestrator and the gateway, once without a token
// and once with each role:
//   npm run test:api-fuzz -- --server gateway --role admin --examples 50 --seed 7 --paths '^/api/uploads'
// Schemathesis comes from PyPI into a virtual environment in the user's cache folder.
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { makeLogins } from "../dist/adapters/postgres/roles/make-login.js";

const schemathesisVersion = "4.32.5";
const root = fileURLToPath(new URL("..", import.meta.url));

const { values } = parseArgs({
  options: {
    server: { type: "string" },
    role: { type: "string" },
    examples: { type: "string", default: "20" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
    reports: { type: "string" },
    operation: { type: "string" },
    paths: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});

const children = [];
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

const schemathesis = installSchemathesis();
const folder = mkdtempSync(path.join(tmpdir(), "rmhdag-fuzz-"));
// As root the database runs as another user, who must be able to enter.
chmodSync(folder, 0o755);
const database = await startEmbeddedPostgres({ dataDirectory: path.join(folder, "postgres") });
let failed = [];
try {
  failed = await fuzz();
} finally {
  for (const child of children.splice(0)) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await database.stop();
  if (!values.keep)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
process.stdout.write(
  failed.length === 0
    ? "no findings\n"
    : `findings with seed ${values.seed}: ${failed.join(", ")}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Answers the path of the program; says what is missing and ends the process otherwise. */
function installSchemathesis() {
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache");
  const environment = path.join(cache, "rmhdag", `schemathesis-${schemathesisVersion}`);
  const program = path.join(environment, "bin", "schemathesis");
  if (existsSync(program)) return program;
  if (spawnSync("python3", ["-c", "import venv, ensurepip"]).status !== 0) {
    fail("This needs Python 3.10 or newer as `python3`, with its module venv.");
  }
  const pip = path.join(environment, "bin", "pip");
  mkdirSync(path.dirname(environment), { recursive: true });
  const steps = [
    ["python3", ["-m", "venv", environment]],
    [pip, ["install", "--quiet", `schemathesis==${schemathesisVersion}`]],
  ];
  for (const [command, args] of steps) {
    if (spawnSync(command, args, { stdio: "inherit" }).status === 0) continue;
    rmSync(environment, { recursive: true, force: true });
    fail(`Schemathesis ${schemathesisVersion} could not be installed from PyPI.`);
  }
  return program;
}

function fail(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}

async function fuzz() {
  await migrate(database.url);
  const gatewayUser = { user: "fuzz_gateway", password: "fuzz_gateway" };
  await makeLogins(database.url, [{ role: "rmhdag_gateway", ...gatewayUser }]);
  const readOnly = new URL(database.url);
  readOnly.username = gatewayUser.user;
  readOnly.password = gatewayUser.password;

  const roles = {
    read: ["read"],
    operate: ["read", "operate"],
    curate: ["read", "curate"],
    service: ["service"],
    all: ["read", "submit", "operate", "curate", "admin", "service"],
  };
  const tokens = Object.fromEntries(
    [...Object.keys(roles), "gateway"].map((role) => [role, randomBytes(16).toString("hex")]),
  );
  const described = (role, access) => `${role}:${access.join("+")}:${sha256(tokens[role])}`;
  cpSync(path.join(root, "test/fixtures/raster"), path.join(folder, "data/storage/bronze"), {
    recursive: true,
  });
  const shared = {
    DATABASE_URL: database.url,
    RMHDAG_DATA_DIR: path.join(folder, "data"),
    RMHDAG_WORKFLOWS: path.join(root, "workflows"),
    LOG_FORMAT: "text",
  };
  const orchestrator = await start("orchestrator", {
    ...shared,
    CALLBACK_SIGNING_KEY: randomBytes(16).toString("hex"),
    DAG_SERVICE_TOKENS: [
      ...Object.entries(roles).map(([role, access]) => described(role, access)),
      described("gateway", ["read", "operate", "curate"]),
    ].join(","),
  });
  const gateway = await start("gateway", {
    LOG_FORMAT: "text",
    GATEWAY_DATABASE_URL: readOnly.href,
    ORCHESTRATOR_URL: orchestrator,
    DAG_SERVICE_TOKEN: tokens.gateway,
    GATEWAY_OPERATOR_TOKENS: `operator:operate:${sha256(tokens.operate)}`,
    GATEWAY_RATE_PER_SECOND: "1000000",
    GATEWAY_RATE_BURST: "1000000",
    GATEWAY_GUESSES_PER_MINUTE: "1000000",
  });
  await start("worker", {
    ...shared,
    WORKER_QUEUE: "functionapp-tasks,dag-worker-tasks,container-tasks",
  });
  const keys = await seed(orchestrator, tokens.all);

  const runs = [
    ...[undefined, ...Object.keys(roles)].map((role) => ({
      server: "orchestrator",
      role: role ?? "none",
      url: orchestrator,
      document: "/api/v1/openapi.json",
      token: role === undefined ? undefined : tokens[role],
    })),
    ...[undefined, ...Object.keys(keys), "operator"].map((role) => ({
      server: "gateway",
      role: role ?? "none",
      url: gateway,
      document: "/api/openapi.json",
      token: role === "operator" ? tokens.operate : role === undefined ? undefined : keys[role],
    })),
  ];
  const found = [];
  for (const run of runs) {
    if (values.server !== undefined && values.server !== run.server) continue;
    if (values.role !== undefined && values.role !== run.role) continue;
    if (!(await check(run))) found.push(`${run.server} as ${run.role}`);
  }
  return found;
}

/** Jobs, an asset and a catalogue item, so that lists have ids to go on with. */
async function seed(orchestrator, token) {
  const post = async (route, body) => {
    const answer = await fetch(orchestrator + route, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const answered = answer.ok ? JSON.parse(text) : undefined;
    if (!answer.ok || answered.status === "failed") throw new Error(`${route}: ${text}`);
    return answered;
  };
  await post("/api/v1/jobs?wait=20", { workflow_id: "hello_world", idempotency_key: "fuzz" });
  await post("/api/v1/jobs?wait=60", {
    workflow_id: "raster_ingest",
    inputs: { blob_path: "bronze/rgb_utm18_nodata0.tif", collection_id: "fuzz", item_id: "rgb" },
  });
  await post("/api/v1/submit", {
    platform_id: "ddh",
    platform_refs: { dataset_id: "fuzz", resource_id: "rgb" },
    version_label: "V1",
    workflow_id: "hello_world",
  });
  const keys = {};
  for (const scope of ["read", "submit", "curate", "admin"]) {
    const body = { platform_id: "ddh", name: `fuzz ${scope}`, scopes: [scope] };
    keys[scope] = (await post("/api/v1/keys", body)).key;
  }
  return keys;
}

/** Answers whether Schemathesis found nothing. */
async function check({ server, role, url, document, token }) {
  process.stdout.write(`${server} as ${role}, seed ${values.seed}\n`);
  const child = spawn(
    schemathesis,
    [
      ...["--config-file", path.join(root, "scripts/schemathesis.toml"), "run", url + document],
      ...["--max-examples", values.examples, "--seed", values.seed],
      ...(token === undefined ? [] : ["--header", `Authorization: Bearer ${token}`]),
      ...(values.operation === undefined ? [] : ["--include-operation-id", values.operation]),
      ...(values.paths === undefined ? [] : ["--include-path-regex", values.paths]),
      ...(values.reports === undefined
        ? []
        : ["--report", "json", "--report-json-path", `${values.reports}/${server}-${role}.json`]),
    ],
    { cwd: folder, stdio: ["ignore", "inherit", "inherit"] },
  );
  children.push(child);
  const [status] = await once(child, "exit");
  children.splice(children.indexOf(child), 1);
  return status === 0;
}

/** Answers the address of the program, or undefined for a worker, which has none. */
async function start(name, env) {
  const port = await freePort();
  const child = spawn(process.execPath, [path.join(root, `dist/programs/${name}.js`)], {
    env: { PATH: process.env.PATH, [`${name.toUpperCase()}_PORT`]: String(port), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes(`${name} started`)) break;
  }
  child.stdout.pipe(process.stderr);
  if (!output.includes(`${name} started`)) throw new Error(`${name} did not start:\n${output}`);
  return `http://127.0.0.1:${port}`;
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}
