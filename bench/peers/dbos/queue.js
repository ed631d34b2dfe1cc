/** DBOS split in two: a client enqueues, a worker process runs workflow and steps. */
import { fileURLToPath } from "node:url";
import { DBOSClient } from "@dbos-inc/dbos-sdk";
import { inFlight } from "../../harness/in-flight.js";
import { timed, timeJobs } from "../../harness/time-jobs.js";
import { startWorker } from "../start-worker.js";
import { openRows } from "../watch-rows.js";
import { warmUpJobs } from "../../harness/warm-up.js";

const workerFile = fileURLToPath(new URL("worker.js", import.meta.url));

export async function open({ databaseUrl, watchUrl, workload }) {
  // The worker makes the tables and the queue, so W5 starts one and stops it before the backlog.
  const workers = [await startWorker(workerFile, { databaseUrl })];
  if (workload === "W5") await workers.pop().stop();
  const client = await DBOSClient.create({
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: 20,
    applicationName: "bench",
  });
  const rows = await openRows(watchUrl);
  const enqueue = (workflowName, argument) =>
    client.enqueue({ workflowName, queueName: "bench" }, argument);
  const finish = async (workflowName, argument) => {
    const { workflowID } = await enqueue(workflowName, argument);
    await rows.until(
      "SELECT status = 'SUCCESS' AS finished FROM dbos.workflow_status WHERE workflow_uuid = $1",
      [workflowID],
    );
    return { workflowID };
  };
  const allFinished = () =>
    rows.until(
      `SELECT NOT EXISTS (SELECT 1 FROM dbos.workflow_status
                           WHERE status IN ('ENQUEUED', 'PENDING')) AS finished`,
    );

  const runs = {
    W1: (count) =>
      timeJobs(count, async (n) => {
        const { workflowID } = await finish("one", n);
        const { n: output } = await client.retrieveWorkflow(workflowID).getResult();
        if (output !== n) throw new Error("the output is missing");
      }),
    W2: (count) => timed(count, () => finish("chain", count)),
    W3: (count) => timed(count, () => finish("fan", count)),
    W4: (count) =>
      timed(5 * count, async () => {
        await inFlight(count, 20, (n) => enqueue("diamond", n));
        await allFinished();
      }),
    async W5(count) {
      workers.push(await startWorker(workerFile, { databaseUrl }));
      return timed(count, allFinished);
    },
  };
  return {
    roles: () => Object.fromEntries(workers.map(({ pid }) => [pid, "worker"])),
    async warmUp() {
      if (workload === "W5") return;
      await runs.W1(warmUpJobs(workload));
      if (workload === "W4") await runs.W4(20);
    },
    fill: (count) => inFlight(count, 20, (n) => enqueue("bare", n)),
    run: (count) => runs[workload](count),
    async close() {
      for (const worker of workers) await worker.stop();
      await rows.close();
      await client.destroy();
    },
  };
}
