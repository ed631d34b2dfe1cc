/** Prefect: its server on the benchmark's PostgreSQL, flows and tasks in one Python process. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { payload } from "../../harness/payload.js";
import { freePort } from "../../harness/free-port.js";
import { startServer } from "../start-server.js";

/** A run that takes longer has failed without a word: its sizes are chosen for seconds. */
const patienceMs = 90_000;
const script = fileURLToPath(new URL("flows.py", import.meta.url));

export async function open({ tool, databaseUrl, folder, workload }) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/api`;
  const env = {
    PREFECT_HOME: path.join(folder, "prefect"),
    PREFECT_API_URL: url,
    PREFECT_API_DATABASE_CONNECTION_URL: databaseUrl.replace(
      /^postgres(ql)?:/,
      "postgresql+asyncpg:",
    ),
    PREFECT_LOGGING_LEVEL: "ERROR",
    PREFECT_LOGGING_TO_API_ENABLED: "false",
    PREFECT_SERVER_ANALYTICS_ENABLED: "false",
  };
  const args = ["server", "start", "--host", "127.0.0.1", "--port", port];
  const server = await startServer(tool, args, () => isHealthy(`${url}/health`), env);
  const python = path.join(path.dirname(tool), "python");
  const worker = spawn(python, [script, payload], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  process.once("exit", () => worker.kill("SIGKILL"));
  const lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const run = async (what, size) => {
    worker.stdin.write(`${JSON.stringify({ workload: what, size })}\n`);
    const late = setTimeout(() => worker.kill("SIGKILL"), patienceMs);
    const { value, done } = await lines.next();
    clearTimeout(late);
    if (done) throw new Error("the process of the flows ended");
    return JSON.parse(value);
  };
  return {
    roles: () => ({ [worker.pid]: "worker", [server.pid]: "server" }),
    warmUp: () => run("W1", 3),
    run: (size) => run(workload, size),
    async close() {
      worker.stdin.end();
      await once(worker, "exit");
      await server.stop();
    },
  };
}

async function isHealthy(url) {
  const { ok } = await fetch(url);
  if (!ok) throw new Error("not yet");
}
