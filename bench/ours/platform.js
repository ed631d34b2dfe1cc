/** Our orchestrator and workers with a server that has PostGIS, and a client of the API. */
import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbeddedPostgres } from "../../dist/adapters/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../../dist/adapters/postgres/migrate.js";
import { createClient } from "../../dist/core/api/client.js";
import { startProgram } from "./programs.js";
import { freePort } from "../harness/free-port.js";

/** `env`: settings of the orchestrator. */
export async function startPlatform(folder, { workers = 1, concurrency = 2, env = {} } = {}) {
  const postgres = await startEmbeddedPostgres({ dataDirectory: path.join(folder, "postgres") });
  await migrate(postgres.url);
  const common = { DATABASE_URL: postgres.url, RMHDAG_DATA_DIR: path.join(folder, "data") };
  const port = String(await freePort());
  const orchestrator = await startProgram("orchestrator", {
    ...common,
    ORCHESTRATOR_PORT: port,
    RMHDAG_OPEN_ON_LOOPBACK: "true",
    RMHDAG_WORKFLOWS: path.resolve("workflows"),
    ...env,
  });
  const queues = { WORKER_QUEUE: "container-tasks,functionapp-tasks,dag-worker-tasks" };
  const settings = { ...common, ...queues, WORKER_CONCURRENCY: String(concurrency) };
  const started = [];
  for (let count = 0; count < workers; count++) {
    started.push(await startProgram("worker", settings));
  }
  const bronze = path.join(folder, "data/storage/bronze");
  await mkdir(bronze, { recursive: true });
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl, token: undefined, fetch: globalThis.fetch });
  return {
    baseUrl,
    client,
    postgres,
    orchestrator,
    workers: started,
    storage: path.join(folder, "data/storage"),
    put: (file) => cp(file, path.join(bronze, path.basename(file))),
    /** Runs a job to its end; answers its result. */
    async run(workflow_id, inputs) {
      const body = { workflow_id, inputs };
      let job = await client.submitJob({ body, query: { wait: 60 } });
      const params = { job_id: job.job_id };
      while (!["completed", "failed", "cancelled"].includes(job.status)) {
        await pause(20);
        job = await client.getJob({ params });
      }
      if (job.status !== "completed") throw new Error(JSON.stringify(job.error));
      // The answer to the submission has it under another name than the job.
      return job.result ?? job.result_data;
    },
    async stop() {
      for (const program of [...started, orchestrator]) await program.stop();
      await postgres.stop();
    },
  };
}
