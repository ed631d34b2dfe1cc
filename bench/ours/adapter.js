/**
 * Our engine in the benchmark: the orchestrator and worker programs of dist/, jobs over the HTTP
 * API. The contract of an adapter is told in driver.js.
 */
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "../../dist/adapters/postgres/migrate.js";
import { pauses } from "../harness/pauses.js";
import { chainWorkflow } from "./chain-workflow.js";
import { createPoster, inFlight } from "./http.js";
import { startProgram } from "./programs.js";
import { openWatch } from "./watch.js";

const workflows = fileURLToPath(new URL("../workflows", import.meta.url));
/** More in flight brings nothing on two cores, fewer leave the orchestrator waiting. */
const submissionsInFlight = 64;

export async function open({ databaseUrl, watchUrl, workload, size, settings }) {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-bench-"));
  await cp(workflows, path.join(folder, "workflows"), { recursive: true });
  const length = workload === "W2" ? size : 2;
  await writeFile(path.join(folder, "workflows/bench_chain.yaml"), chainWorkflow(length));
  await migrate(databaseUrl);

  const env = { DATABASE_URL: databaseUrl, RMHDAG_DATA_DIR: folder, ...settings.env };
  const roles = {};
  const programs = [];
  const start = async (name, more) => {
    const program = await startProgram(name, { ...env, ...more }, settings);
    programs.push(program);
    roles[program.pid] = name;
    return program;
  };
  const orchestrator = await start("orchestrator", {
    ORCHESTRATOR_PORT: "0",
    RMHDAG_WORKFLOWS: path.join(folder, "workflows"),
    RMHDAG_OPEN_ON_LOOPBACK: "true",
  });
  const startWorkers = () =>
    Promise.all(
      Array.from({ length: settings.workers }, () =>
        start("worker", {
          WORKER_TYPE: "light",
          WORKER_CONCURRENCY: String(settings.concurrency),
        }),
      ),
    );
  const api = createPoster(orchestrator.fields.url, { connections: submissionsInFlight });
  const watch = await openWatch(watchUrl);
  const submit = (workflow_id, inputs) => api.post("/api/v1/jobs", { workflow_id, inputs });
  const items = (count) => Array.from({ length: count }, (_, at) => at);
  let expected = 0;

  async function fanOut(count) {
    const began = performance.now();
    const { job_id } = await submit("bench_fan", { items: items(count) });
    await watch.jobCompleted(job_id);
    const wallMs = performance.now() - began;
    const collected = await watch.collected(job_id);
    if (collected !== count) throw new Error(`${collected} of ${count} children completed`);
    return { tasks: count, wallMs };
  }

  async function submitDiamonds(count) {
    expected += count;
    await inFlight(count, submissionsInFlight, (n) => submit("bench_diamond", { n }));
  }

  const runs = {
    async W1(count) {
      const latencies = [];
      for (let n = 0; n < count; n++) {
        await pauses(n);
        const began = performance.now();
        const { job_id } = await submit("bench_one", { n });
        await watch.jobCompleted(job_id);
        latencies.push(performance.now() - began);
      }
      return { tasks: count, latencies };
    },
    async W2(count) {
      const began = performance.now();
      const { job_id } = await submit("bench_chain", {});
      await watch.jobCompleted(job_id);
      return { tasks: count, wallMs: performance.now() - began };
    },
    W3: fanOut,
    async W4(count) {
      const began = performance.now();
      await submitDiamonds(count);
      await watch.allCompleted(expected);
      return { tasks: 5 * count, wallMs: performance.now() - began };
    },
    /** As W4, but no worker runs until all jobs are there: so many are active at once. */
    async W4active(count) {
      const began = performance.now();
      const workers = programs.filter(({ pid }) => roles[pid] === "worker");
      for (const { pid } of workers) process.kill(pid, "SIGSTOP");
      await submitDiamonds(count);
      for (const { pid } of workers) process.kill(pid, "SIGCONT");
      await watch.allCompleted(expected);
      return { tasks: 5 * count, wallMs: performance.now() - began };
    },
    async W5(count) {
      await startWorkers();
      const began = performance.now();
      await watch.allCompleted(expected);
      return { tasks: count, wallMs: performance.now() - began };
    },
  };
  runs.W5one = runs.W5;

  return {
    roles: () => roles,
    async warmUp() {
      if (workload.startsWith("W5")) return;
      await startWorkers();
      await runs.W1(10);
      expected += 10;
      if (workload === "W2") await runs.W2(size);
      if (workload === "W3") await fanOut(200);
      if (workload.startsWith("W4")) await runs.W4(20);
    },
    async fill(count) {
      const width = workload === "W5one" ? count : 1000;
      expected = count / width;
      await inFlight(expected, 4, () => submit("bench_fan", { items: items(width) }));
    },
    run: (count) => runs[workload](count),
    async close() {
      api.close();
      await watch.close();
      await Promise.all(programs.reverse().map((program) => program.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
