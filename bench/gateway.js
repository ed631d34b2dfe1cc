/**
 * `npm run bench:gateway`: what the gateway adds to a submission, and how many polls a second it
 * serves. Real programs on the embedded database; the load comes from this process.
 *
 * Submissions go by turns to the orchestrator and through the gateway, each of a dataset of its own,
 * so that both meet the same machine; the worker starts afterwards, since on two cores the jobs of
 * the submissions before would be measured with them. Polls are of one finished request over many
 * connections.
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { makeLogins } from "../dist/adapters/postgres/roles/make-login.js";
import { readProcesses } from "./harness/processes.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { reportFigures } from "./report/platform.js";
import { freePort } from "./harness/free-port.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const quick = process.argv.includes("--quick");
const submissions = quick ? 150 : 500;
/** The first ones make the compilers' work: repetitions, which cost the database little. */
const warmUp = quick ? 500 : 2000;
const pollSeconds = quick ? 2 : 10;
const connections = 32;

const children = [];
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

const folder = makeWorkFolder();
const server = await startEmbeddedPostgres({
  dataDirectory: path.join(folder, "postgres"),
  prefer: "npm",
});
try {
  await bench();
} finally {
  for (const child of children.splice(0)) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await server.stop();
}

async function bench() {
  await migrate(server.url);
  const gatewayUser = { user: "bench_gateway", password: "bench_gateway" };
  await makeLogins(server.url, [{ role: "rmhdag_gateway", ...gatewayUser }]);
  const readOnly = new URL(server.url);
  readOnly.username = gatewayUser.user;
  readOnly.password = gatewayUser.password;

  const orchestrator = await start("orchestrator", {
    DATABASE_URL: server.url,
    RMHDAG_OPEN_ON_LOOPBACK: "true",
    RMHDAG_WORKFLOWS: path.join(root, "workflows"),
    RMHDAG_DATA_DIR: folder,
  });
  const gateway = await start("gateway", {
    GATEWAY_DATABASE_URL: readOnly.href,
    ORCHESTRATOR_URL: `http://127.0.0.1:${orchestrator}`,
    GATEWAY_RATE_PER_SECOND: "1000000",
    GATEWAY_RATE_BURST: "1000000",
  });
  const direct = await open(orchestrator);
  const through = await open(gateway);
  const key = await makeKey(direct);

  const cpu = () => readProcesses().get(children.at(-1).pid)?.ms ?? NaN;
  const { requestId, figures, spent } = await measureSubmissions(direct, through, key, cpu);
  await start("worker", {
    DATABASE_URL: server.url,
    RMHDAG_DATA_DIR: folder,
    WORKER_QUEUE: "functionapp-tasks,dag-worker-tasks,container-tasks",
  });
  await finished(through, key, requestId);
  const rate = await measurePolls(gateway, key, requestId);
  const added = figures.through - figures.direct;
  await reportFigures("gateway", {
    title: "Gateway",
    settings: `${submissions} submissions by turns, ${connections} connections that poll for ${pollSeconds} s`,
    whole: !quick,
    figures: [
      { what: "submission to the orchestrator, p50", value: figures.direct, unit: "ms" },
      { what: "submission through the gateway, p50", value: figures.through, unit: "ms" },
      { what: "added by the gateway", value: added, unit: "ms", most: 2 },
      // What it costs, whatever else the machine does meanwhile.
      { what: "CPU of the gateway for each", value: spent, unit: "ms" },
      { what: "status polls", value: rate, unit: "/s", least: 2000 },
    ],
  });
}

async function measureSubmissions(direct, through, key, cpu) {
  const times = { direct: [], through: [] };
  let requestId = "";
  let before = 0;
  for (let i = -warmUp; i < submissions; i++) {
    const isWarmUp = i < 0;
    if (i === 0) before = cpu();
    const body = {
      workflow_id: "hello_world",
      platform_refs: { dataset_id: `bench-${Math.max(-1, i)}`, resource_id: "direct" },
      version_label: "V1",
      ...(isWarmUp ? { idempotency_key: "direct" } : {}),
    };
    // As the gateway sends it: what the orchestrator does with an id or an actor is not its doing.
    const first = await timed(direct, "POST", "/api/v1/submit", {
      ...body,
      platform_id: "ddh",
      request_id: randomUUID(),
      submitted_by: "bench",
      actor: "bench",
    });
    body.platform_refs.resource_id = "through";
    if (isWarmUp) body.idempotency_key = "through";
    const second = await timed(through, "POST", "/api/platform/submit", body, key);
    requestId = JSON.parse(second.text).request_id;
    if (isWarmUp) continue;
    times.direct.push(first.ms);
    times.through.push(second.ms);
  }
  return {
    requestId,
    figures: { direct: median(times.direct), through: median(times.through) },
    spent: (cpu() - before) / submissions,
  };
}

async function measurePolls(port, key, requestId) {
  const clients = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const url = `/api/platform/status/${requestId}`;
  let polls = 0;
  const warmUntil = performance.now() + 1000;
  const until = warmUntil + pollSeconds * 1000;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < until) {
        const { status } = await client("GET", url, undefined, key);
        if (status !== 200) throw new Error(`a poll was answered with ${status}`);
        if (performance.now() > warmUntil) polls++;
      }
    }),
  );
  return polls / pollSeconds;
}

async function finished(client, key, requestId) {
  for (;;) {
    const { text } = await client("GET", `/api/platform/status/${requestId}`, undefined, key);
    if (JSON.parse(text).status === "completed") return;
    await pause(20);
  }
}

async function makeKey(client) {
  const body = { platform_id: "ddh", name: "bench", scopes: ["submit", "read"] };
  const { status, text } = await client("POST", "/api/v1/keys", body);
  if (status !== 201) throw new Error(text);
  return JSON.parse(text).key;
}

async function timed(client, ...call) {
  const began = performance.now();
  const answer = await client(...call);
  const ms = performance.now() - began;
  if (answer.status >= 300) throw new Error(answer.text);
  return { ms, text: answer.text };
}

/** One kept connection and one request at a time: less work than any client library, so less noise. */
async function open(port) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  let waiting;
  let got = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    got = got.length === 0 ? chunk : Buffer.concat([got, chunk]);
    const end = got.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = got.toString("latin1", 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (got.length < end + 4 + length) return;
    const text = got.toString("utf8", end + 4, end + 4 + length);
    got = got.subarray(end + 4 + length);
    waiting({ status: Number(head.slice(9, 12)), text });
  });
  return (method, url, body, key) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = [
      `${method} ${url} HTTP/1.1`,
      "host: 127.0.0.1",
      ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
      ...(text === "" ? [] : ["content-type: application/json"]),
      `content-length: ${Buffer.byteLength(text)}`,
    ];
    socket.write(`${headers.join("\r\n")}\r\n\r\n${text}`);
    return new Promise((resolve) => (waiting = resolve));
  };
}

/** Answers the port, which a worker does not have. */
async function start(name, env) {
  const port = await freePort();
  const portName = `${name.toUpperCase()}_PORT`;
  const child = spawn(process.execPath, [path.join(root, `dist/programs/${name}.js`)], {
    env: { PATH: process.env.PATH, LOG_FORMAT: "text", [portName]: String(port), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes(`${name} started`)) break;
  }
  child.stdout.resume();
  if (!output.includes(`${name} started`)) throw new Error(`${name} did not start:\n${output}`);
  return port;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
