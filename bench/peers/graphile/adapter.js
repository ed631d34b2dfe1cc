/** A raw queue: no dependencies, and a finished job's row is deleted. */
import { fileURLToPath } from "node:url";
import { makeWorkerUtils } from "graphile-worker";
import { chunks, inFlight } from "../../harness/in-flight.js";
import { clients } from "../../harness/plan.js";
import { payload } from "../../harness/payload.js";
import { timed, timeJobs } from "../../harness/time-jobs.js";
import { quiet } from "./quiet.js";
import { startWorker, waitUntil } from "../start-worker.js";
import { openRows } from "../watch-rows.js";
import { warmUpJobs } from "../../harness/warm-up.js";

const workerFile = fileURLToPath(new URL("worker.js", import.meta.url));

export async function open({ databaseUrl, watchUrl, workload }) {
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger: quiet });
  await utils.migrate();
  const rows = await openRows(watchUrl);
  const workers = [];
  const start = async (processes) => {
    const batching = workload === "W5";
    const started = Array.from({ length: processes }, () =>
      startWorker(workerFile, { databaseUrl, batching }),
    );
    workers.push(...(await Promise.all(started)));
  };

  const runs = {
    W1: (count) =>
      timeJobs(count, async (n) => {
        const { id } = await utils.addJob("echo", { n, payload });
        await rows.until(
          `SELECT NOT EXISTS (SELECT 1 FROM graphile_worker._private_jobs WHERE id = $1) AS finished`,
          [id],
        );
      }),
    W7: (count) =>
      timed(count, () => inFlight(count, clients, (n) => utils.addJob("echo", { n, payload }))),
    async W5(count) {
      await start(2);
      return timed(count, () =>
        waitUntil(workers, count, async () => {
          const row = await rows.ask(
            "SELECT NOT EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS finished",
          );
          return row.finished;
        }),
      );
    },
  };

  return {
    roles: () => Object.fromEntries(workers.map(({ pid }) => [pid, "worker"])),
    async warmUp() {
      if (workload === "W5") return;
      if (workload === "W7") return runs.W7(1000);
      await start(1);
      await runs.W1(warmUpJobs(workload));
    },
    async fill(count) {
      for (const chunk of chunks(count, 1000)) {
        await utils.addJobs(chunk.map((n) => ({ identifier: "echo", payload: { n, payload } })));
      }
    },
    run: (count) => runs[workload](count),
    async close() {
      for (const worker of workers) await worker.stop();
      await rows.close();
      await utils.release();
    },
  };
}
