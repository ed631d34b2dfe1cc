// Runs Schemathesis with all its checks against the orchestrator and the gateway, once without a token
// and once with each role. Schemathesis comes from PyPI into a virtual environment in the user's cache
// folder.
import { spawn } from "node:child_process";
import { createHash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { makeLogins } from "../dist/adapters/postgres/roles/make-login.js";
import { installPython } from "./install-python.js";
import { seed, seedFiles } from "./seed-fuzz.js";

const schemathesisVersion = "4.32.5";
const root = fileURLToPath(new URL("..", import.meta.url));

const usage = `npm run test:api-fuzz -- [options]
  --server orchestrator|gateway   both by default
  --role none|read|all|…          all by default
  --ids real|any                  ids of things that exist, or any text; both by default
  --phases coverage,fuzzing       examples,coverage,fuzzing,stateful by default
  --examples 20                   requests that are made up for each operation
  --seed 7                        the same requests again
  --operation getJob              one operation
  --paths '^/api/uploads'         some paths
  --reports DIR                   writes a report of each run, and the logs of the servers, there
  --keep                          leaves the folder with the database and the logs
`;
const { values } = readOptions();
const idsOf = { real: ["real"], any: ["any"] }[values.ids] ?? ["real", "any"];

const children = [];
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

const packages = [`schemathesis==${schemathesisVersion}`];
const schemathesis = path.join(installPython("schemathesis", packages), "schemathesis");
if (values.reports !== undefined) mkdirSync(values.reports, { recursive: true });
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

function readOptions() {
  try {
    const parsed = parseArgs({
      options: {
        server: { type: "string" },
        role: { type: "string" },
        ids: { type: "string", default: "both" },
        phases: { type: "string", default: "examples,coverage,fuzzing,stateful" },
        examples: { type: "string", default: "20" },
        seed: { type: "string", default: String(randomInt(1_000_000)) },
        reports: { type: "string" },
        operation: { type: "string" },
        paths: { type: "string" },
        keep: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (!parsed.values.help) return parsed;
  } catch (error) {
    fail(`${error.message}\n${usage}`);
  }
  process.stdout.write(usage);
  process.exit(0);
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
  for (const [target, file] of Object.entries(seedFiles)) {
    const from = path.join(root, "test/fixtures", file);
    cpSync(from, path.join(folder, "data/storage", target), { recursive: true });
  }
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
  const { keys, ids, idsBelow } = await seed(orchestrator, tokens.all);

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
  const wanted = runs.filter(
    ({ server, role }) => (values.server ?? server) === server && (values.role ?? role) === role,
  );
  if (wanted.length === 0) {
    const names = runs.map(({ server, role }) => `${server} as ${role}`);
    throw new Error(`there is no such run; there are: ${names.join(", ")}`);
  }
  const found = [];
  for (const run of wanted) {
    for (const kind of idsOf) {
      const isReal = kind === "real";
      const given = isReal ? [ids, idsBelow[run.server]] : [{}, {}];
      const document = await writeDocument(run.url + run.document, ...given);
      // What is deleted would be missing for the operations that follow.
      const parts = isReal
        ? [
            ["--exclude-method", "DELETE"],
            ["--exclude-method-regex", "^(?!DELETE$)"],
          ]
        : [[]];
      for (const [part, filter] of parts.entries()) {
        if (await check({ ...run, document, filter, name: `${kind}-${part + 1}` })) continue;
        found.push(`${run.server} as ${run.role} with ${kind} ids`);
      }
    }
  }
  return found;
}

/**
 * The server's document, in which parameters of paths are the given ids of things that exist. A setting
 * of Schemathesis would put them into the requests with bad ids as well, which are then not refused.
 */
async function writeDocument(url, ids, idsBelow) {
  const document = withoutPrefixItems(await (await fetch(url)).json());
  for (const [route, methods] of Object.entries(document.paths)) {
    const own = Object.entries(idsBelow).filter(([start]) => route.startsWith(start));
    const known = Object.assign({}, ids, ...own.map(([, given]) => given));
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      for (const parameter of parameters) {
        const id = parameter.in === "path" ? known[parameter.name] : undefined;
        // PUT makes what is not there.
        if (id !== undefined && method !== "put") parameter.schema = { enum: [id] };
      }
    }
  }
  const file = path.join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  return file;
}

/**
 * Schemathesis rewrites `prefixItems` to the list of schemas of older JSON Schema, and then refuses its
 * own result as "Schema Error": here any of the schemas may be at any place.
 */
function withoutPrefixItems(value) {
  if (Array.isArray(value)) return value.map(withoutPrefixItems);
  if (typeof value !== "object" || value === null) return value;
  const { prefixItems, ...others } = value;
  const items = Array.isArray(prefixItems) ? { items: { anyOf: prefixItems } } : {};
  return Object.fromEntries(
    Object.entries({ ...others, ...items }).map(([name, each]) => [name, withoutPrefixItems(each)]),
  );
}

/** Answers whether Schemathesis found nothing. */
async function check({ server, role, url, document, token, filter, name }) {
  process.stdout.write(`${server} as ${role}, ids ${name}, seed ${values.seed}\n`);
  const child = spawn(
    schemathesis,
    [
      ...["--config-file", path.join(root, "scripts/schemathesis.toml"), "run", document],
      ...["--url", url, ...filter],
      ...["--max-examples", values.examples, "--seed", values.seed, "--phases", values.phases],
      ...(token === undefined ? [] : ["--header", `Authorization: Bearer ${token}`]),
      ...(values.operation === undefined ? [] : ["--include-operation-id", values.operation]),
      ...(values.paths === undefined ? [] : ["--include-path-regex", values.paths]),
      ...(values.reports === undefined
        ? []
        : [
            "--report",
            "json",
            "--report-json-path",
            `${values.reports}/${server}-${role}-${name}.json`,
          ]),
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
  const log = path.join(values.reports ?? folder, `${name}.log`);
  child.stdout.pipe(createWriteStream(log));
  let output = "";
  await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      if (output.includes(`${name} started`)) return;
      output += chunk;
      if (output.includes(`${name} started`)) resolve();
    });
    child.once("exit", () => reject(new Error(`${name} has ended: see ${log}\n${output}`)));
  });
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
