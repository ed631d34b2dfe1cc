/**
 * `npm run bench:observers`: what observers cost. A fan-out is run by itself, with dashboards that ask
 * for health, metrics and queues 25 times a second, and with 50 clients that watch the job's events; the
 * CPU of all programs and the server for one task is compared, and the times of the requests are told.
 */
import { get } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { startPostgres } from "./harness/postgres.js";
import { readProcesses, treeOf } from "./harness/processes.js";
import { makeWorkFolder } from "./harness/work-folder.js";
import { createPoster } from "./ours/http.js";
import { startProgram } from "./ours/programs.js";
import { median, percentile } from "./report/figures.js";
import { reportFigures } from "./report/platform.js";

const quick = process.argv.includes("--quick");
const width = quick ? 5000 : 100_000;
const rounds = quick ? 1 : 6;
const watchers = 50;
const askEveryMs = 40;
const asked = ["/health", "/metrics", "/api/v1/queues/status"];
const root = new URL("../", import.meta.url).href;
const workflow = `workflow_id: watched
inputs: { n: { type: integer, required: true } }
nodes:
  split:
    type: fan_out
    source: "{{ inputs.n | range }}"
    task: { handler: echo, params: { n: "{{ item }}" } }
`;

const folder = makeWorkFolder();
const server = await startPostgres(folder, (text) => process.stdout.write(`${text}\n`));
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
  await writeFile(path.join(workflows, "watched.yaml"), workflow);
  const env = { DATABASE_URL: server.url, RMHDAG_DATA_DIR: folder };
  const start = async (name, more) => {
    programs.push(await startProgram(name, { ...env, ...more }, { root }));
    return programs.at(-1);
  };
  const { fields } = await start("orchestrator", {
    ORCHESTRATOR_PORT: "0",
    RMHDAG_WORKFLOWS: workflows,
    RMHDAG_OPEN_ON_LOOPBACK: "true",
  });
  await start("worker", { WORKER_TYPE: "light", WORKER_CONCURRENCY: "100" });
  const api = createPoster(fields.url, { connections: 4 });
  const kinds = { alone: async () => () => undefined, dashboards, watched };
  const costs = { alone: [], dashboards: [], watched: [] };
  const times = [];
  await runJob(api, kinds.alone);
  for (let round = 0; round < rounds; round++) {
    // In turns, because what one job leaves to autovacuum is paid for by the next one.
    const names = Object.keys(kinds);
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const kind of order) costs[kind].push(await runJob(api, kinds[kind]));
  }
  const cost = (kind) => median(costs[kind]);
  // Within a round, because the speed of a machine changes from one to the next.
  const more = (kind) =>
    (median(costs[kind].map((each, round) => each / costs.alone[round])) - 1) * 100;
  await reportFigures("observers", {
    title: "Observers",
    settings: `a fan-out of ${width}; ${1000 / askEveryMs} requests a second by turns to ${asked.join(", ")}; ${watchers} watchers`,
    whole: !quick,
    figures: [
      { what: "CPU a task, unobserved", value: cost("alone"), unit: "ms" },
      { what: "more of it with dashboards", value: more("dashboards"), unit: "%", most: 10 },
      { what: `more of it with ${watchers} watchers`, value: more("watched"), unit: "%", most: 10 },
      { what: "health, metrics, queues: p50", value: median(times), unit: "ms", most: 10 },
      { what: "and p95", value: percentile(times, 0.95), unit: "ms" },
    ],
  });
  api.close();

  async function dashboards() {
    let on = true;
    const asking = (async () => {
      for (let n = 0; on; n++) {
        const began = performance.now();
        await api.send("GET", asked[n % asked.length], undefined, { text: true });
        times.push(performance.now() - began);
        await pause(askEveryMs);
      }
    })();
    return async () => {
      on = false;
      await asking;
    };
  }

  async function watched(jobId) {
    const url = `${fields.url}/api/v1/jobs/${jobId}/stream`;
    // As browsers and `fetch` ask for it.
    const headers = { "accept-encoding": "gzip, deflate" };
    const requests = Array.from({ length: watchers }, () =>
      get(url, { headers }, (response) => response.resume()),
    );
    for (const request of requests) request.on("error", () => undefined);
    return () => requests.forEach((request) => request.destroy());
  }
}

/** Answers the CPU of one task, all programs and the server together. */
async function runJob(api, observe) {
  const before = spentMs();
  const { job_id } = await api.post("/api/v1/jobs", {
    workflow_id: "watched",
    inputs: { n: width },
  });
  const stop = await observe(job_id);
  let job;
  do {
    await pause(100);
    job = await api.send("GET", `/api/v1/jobs/${job_id}/progress`);
  } while (job.status === "pending" || job.status === "running");
  await stop();
  if (job.status !== "completed") throw new Error(`the job is ${job.status}`);
  return (spentMs() - before) / width;
}

function spentMs() {
  const processes = readProcesses();
  const roots = [server.pid, ...programs.map(({ pid }) => pid)];
  const pids = roots.flatMap((pid) => treeOf(processes, pid));
  const ofDead = roots.map((pid) => processes.get(pid)?.deadChildrenMs ?? 0);
  return [...pids.map((pid) => processes.get(pid).ms), ...ofDead].reduce((a, b) => a + b, 0);
}
