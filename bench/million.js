/**
 * `npm run bench:million`: one job with a million children, with the real programs on the embedded
 * database. It shows that a task costs the same in a wide fan-out, that the memory of the orchestrator
 * does not grow with the fan-out, and how long a look at the job takes meanwhile.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { readProcesses } from "./harness/processes.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { createPoster } from "./ours/http.js";
import { startProgram } from "./ours/programs.js";
import { reportFigures } from "./report/platform.js";

const count = process.argv.includes("--quick") ? 50_000 : 1_000_000;
const root = new URL("../", import.meta.url).href;
const workflow = `workflow_id: million
name: A wide fan-out
inputs: { n: { type: integer, required: true } }
nodes:
  split:
    type: fan_out
    source: "{{ inputs.n | range }}"
    task:
      handler: echo
      params: { n: "{{ item }}", payload: "about ninety bytes of text, as every task of the other workloads carries" }
`;

const folder = makeWorkFolder();
const server = await startEmbeddedPostgres({
  dataDirectory: path.join(folder, "postgres"),
  prefer: "npm",
});
const programs = [];
try {
  await bench();
} finally {
  for (const program of programs) await program.stop();
  await server.stop();
}

async function bench() {
  await migrate(server.url);
  const workflows = path.join(folder, "workflows");
  await mkdir(workflows);
  await writeFile(path.join(workflows, "million.yaml"), workflow);
  const env = { DATABASE_URL: server.url, RMHDAG_DATA_DIR: folder, MAX_FAN_OUT: String(count) };
  const start = async (name, more) => {
    const program = await startProgram(name, { ...env, ...more }, { root });
    programs.push(program);
    return program;
  };
  const orchestrator = await start("orchestrator", {
    ORCHESTRATOR_PORT: "0",
    RMHDAG_WORKFLOWS: workflows,
    RMHDAG_OPEN_ON_LOOPBACK: "true",
  });
  const worker = await start("worker", { WORKER_TYPE: "light", WORKER_CONCURRENCY: "100" });
  const api = createPoster(orchestrator.fields.url, { connections: 1 });
  const began = performance.now();
  const { job_id } = await api.post("/api/v1/jobs", {
    workflow_id: "million",
    inputs: { n: count },
  });
  const accepted = performance.now() - began;
  const looks = [];
  let job;
  do {
    await pause(2000);
    const from = performance.now();
    job = await api.send("GET", `/api/v1/jobs/${job_id}`, {});
    looks.push(performance.now() - from);
  } while (job.status === "pending" || job.status === "running");
  const seconds = (performance.now() - began) / 1000;
  const { children } = job.nodes.find(({ node_id }) => node_id === "split");
  if (job.status !== "completed" || children.completed !== count) {
    throw new Error(`the job is ${job.status}: ${JSON.stringify(children)}`);
  }
  looks.sort((a, b) => a - b);
  const spent = readProcesses();
  const cpu = (pid) => spent.get(pid).ms / count;
  await reportFigures("million", {
    title: "A million children in one job",
    settings: "one orchestrator, one worker with 100 tasks at once",
    whole: count === 1_000_000,
    figures: [
      { what: "children", value: count, unit: "" },
      { what: "tasks a second", value: count / seconds, unit: "tasks/s" },
      { what: "POST until it is accepted", value: accepted, unit: "ms" },
      { what: "GET of the job meanwhile, p50", value: looks[looks.length >> 1], unit: "ms" },
      { what: "CPU a task, orchestrator", value: cpu(orchestrator.pid), unit: "ms" },
      { what: "CPU a task, worker", value: cpu(worker.pid), unit: "ms" },
      { what: "peak memory, orchestrator", value: await peak(orchestrator), unit: "MB", most: 600 },
      { what: "peak memory, worker", value: await peak(worker), unit: "MB" },
    ],
  });
  api.close();
}

async function peak({ pid }) {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1024;
}
