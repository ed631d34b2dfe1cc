/**
 * Our engine in the benchmark: the orchestrator and worker programs of dist/, jobs over the HTTP
 * API. The contract of an adapter stands in driver.js.
 */
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { clients } from "../harness/plan.js";
import { warmUpJobs } from "../harness/warm-up.js";
import { chainWorkflow } from "./chain-workflow.js";
import { openGateway } from "./gateway.js";
import { createPoster } from "./http.js";
import { startProgram } from "./programs.js";
import { createRuns } from "./runs.js";
import { openWatch } from "./watch.js";

const workflows = fileURLToPath(new URL("../workflows", import.meta.url));

export async function open({ databaseUrl, watchUrl, workload, size, settings, ...given }) {
  const folder = await mkdtemp(path.join(given.folder, "ours-"));
  await cp(workflows, path.join(folder, "workflows"), { recursive: true });
  const length = workload === "W2" ? size : 2;
  await writeFile(path.join(folder, "workflows/bench_chain.yaml"), chainWorkflow(length));
  const root = settings.root ?? new URL("../../", import.meta.url).href;
  const { migrate } = await import(new URL("dist/adapters/postgres/migrate.js", root).href);
  await migrate(databaseUrl);

  const env = { DATABASE_URL: databaseUrl, RMHDAG_DATA_DIR: folder, ...settings.env };
  const roles = {};
  const programs = [];
  const start = async (name, more) => {
    const program = await startProgram(name, { ...env, ...more }, { ...settings, root });
    programs.push(program);
    roles[program.pid] = name;
    return program;
  };
  const orchestrator = await start("orchestrator", {
    ORCHESTRATOR_PORT: "0",
    RMHDAG_WORKFLOWS: path.join(folder, "workflows"),
    RMHDAG_OPEN_ON_LOOPBACK: "true",
  });
  const overHttp = { DATABASE_URL: "", DAG_CALLBACK_URL: orchestrator.fields.url };
  const startWorkers = () =>
    Promise.all(
      Array.from({ length: settings.workers }, () =>
        start("worker", {
          WORKER_TYPE: "light",
          WORKER_CONCURRENCY: String(settings.concurrency),
          ...(settings.transport === "http" ? overHttp : {}),
        }),
      ),
    );
  const holdWorkers = async (work) => {
    const workers = programs.filter(({ pid }) => roles[pid] === "worker");
    for (const { pid } of workers) process.kill(pid, "SIGSTOP");
    await work();
    for (const { pid } of workers) process.kill(pid, "SIGCONT");
  };
  const api = createPoster(orchestrator.fields.url, { connections: clients });
  const watch = await openWatch(watchUrl);
  const parts = { databaseUrl, root, orchestrator, api, start, connections: clients };
  const gateway = workload === "W6" ? await openGateway(parts) : undefined;
  const { variant } = given;
  const runs = createRuns({ api, watch, gateway, variant, startWorkers, holdWorkers });

  return {
    roles: () => roles,
    async warmUp() {
      if (workload === "W5") return;
      if (workload === "W7") return runs.W7(size / 5);
      await startWorkers();
      await runs.W1(warmUpJobs(workload));
      if (workload === "W2") await runs.W2(size);
      if (workload === "W3") await runs.W3(200);
      if (workload.startsWith("W4")) await runs.W4(20);
      if (workload === "W6") await runs.W6(20);
    },
    fill: (count) => runs.fill(count),
    run: (count) => runs[workload](count),
    async close() {
      gateway?.close();
      api.close();
      await watch.close();
      // The orchestrator last, as in a site: workers over HTTP sign off there.
      for (const program of programs.reverse()) await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
