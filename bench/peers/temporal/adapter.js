/** Temporal: its server on the benchmark's PostgreSQL, workflows and activities in one worker process. */
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { inFlight } from "../../harness/in-flight.js";
import { timed, timeJobs } from "../../harness/time-jobs.js";
import { startWorker } from "../start-worker.js";
import { startTemporal } from "./start-temporal.js";

const workerFile = fileURLToPath(new URL("worker.js", import.meta.url));

export async function open({ tool, databaseUrl, folder, workload }) {
  const server = await startTemporal({ tool, databaseUrl, folder });
  const { address } = server;
  const workers = workload === "W5" ? [] : [await startWorker(workerFile, { address })];
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  let count = 0;
  const begin = (verb, type, argument) => {
    const workflowId = `${type}-${process.pid}-${count++}`;
    return client.workflow[verb](type, { taskQueue: "bench", workflowId, args: [argument] });
  };
  const backlog = [];
  const runs = {
    W1: (jobs) =>
      timeJobs(jobs, async (n) => {
        const { n: output } = await begin("execute", "one", n);
        if (output !== n) throw new Error("the output is missing");
      }),
    W2: (length) => timed(length, () => begin("execute", "chain", length)),
    W3: (width) =>
      timed(width, async () => {
        const collected = await begin("execute", "fan", width);
        if (collected.length !== width) throw new Error("outputs are missing");
      }),
    W4: (jobs) => timed(5 * jobs, () => inFlight(jobs, 100, (n) => begin("execute", "diamond", n))),
    async W5(jobs) {
      workers.push(await startWorker(workerFile, { address }));
      return timed(jobs, () => inFlight(jobs, 100, (n) => backlog[n].result()));
    },
  };
  return {
    roles: () => ({
      [server.pid]: "server",
      ...Object.fromEntries(workers.map(({ pid }) => [pid, "worker"])),
    }),
    async warmUp() {
      if (workload === "W5") return;
      await runs.W1(20);
      if (workload === "W3") await runs.W3(100);
      if (workload === "W4") await runs.W4(20);
    },
    fill: (jobs) =>
      inFlight(jobs, 32, async (n) => {
        backlog[n] = await begin("start", "one", n);
      }),
    run: (size) => runs[workload](size),
    async close() {
      for (const worker of workers) await worker.stop();
      await connection.close();
      await server.stop();
    },
  };
}
