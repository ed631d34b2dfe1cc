/** pg-boss: `flow()` for graphs, NOTIFY opted in, batches of 1,000 with an output for each job. */
import { fileURLToPath } from "node:url";
import { PgBoss } from "pg-boss";
import { chunks, inFlight } from "../../harness/in-flight.js";
import { clients } from "../../harness/plan.js";
import { payload } from "../../harness/payload.js";
import { timed, timeJobs } from "../../harness/time-jobs.js";
import { startWorker, waitUntil } from "../start-worker.js";
import { openRows } from "../watch-rows.js";
import { warmUpJobs } from "../../harness/warm-up.js";

const workerFile = fileURLToPath(new URL("worker.js", import.meta.url));
const job = (ref, dependsOn) => ({ ref, name: "echo", data: { ref, payload }, dependsOn });

export async function open({ databaseUrl, watchUrl, workload }) {
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  for (const name of ["echo", "gather"]) await boss.createQueue(name, { notify: true });
  const rows = await openRows(watchUrl);
  const workers = [];
  let done = 0;
  const start = async () => {
    workers.push(await startWorker(workerFile, { databaseUrl, single: workload === "W1" }));
  };
  const finished = (id) =>
    rows.until("SELECT state = 'completed' AS finished FROM pgboss.job WHERE id = $1", [id]);
  const allFinished = (count) => {
    done += count;
    return waitUntil(workers, done, async () => {
      const row = await rows.ask(
        "SELECT NOT EXISTS (SELECT 1 FROM pgboss.job WHERE state < 'completed') AS finished",
      );
      return row.finished;
    });
  };

  const runs = {
    W1: (count) =>
      timeJobs(count, async (n) => {
        const id = await boss.send("echo", { n, payload });
        await finished(id);
        const { output } = await rows.ask("SELECT output FROM pgboss.job WHERE id = $1", [id]);
        if (output.n !== n) throw new Error("the output is missing");
        done++;
      }),
    W2: (count) =>
      timed(count, async () => {
        const chain = Array.from({ length: count }, (_, at) =>
          job(`t${at}`, at === 0 ? undefined : [`t${at - 1}`]),
        );
        const ids = await boss.flow(chain);
        await finished(ids[`t${count - 1}`]);
        done += count;
      }),
    W3: (count) =>
      timed(count, async () => {
        const children = Array.from({ length: count }, (_, at) => job(`c${at}`));
        const gather = {
          ...job(
            "gather",
            children.map(({ ref }) => ref),
          ),
          name: "gather",
        };
        const ids = await boss.flow([...children, gather]);
        await finished(ids.gather);
        done += count;
      }),
    W4: (count) =>
      timed(5 * count, async () => {
        await inFlight(count, clients, () =>
          boss.flow([
            job("a"),
            ...["b", "c", "d"].map((ref) => job(ref, ["a"])),
            job("e", ["b", "c", "d"]),
          ]),
        );
        await allFinished(5 * count);
      }),
    W7: (count) =>
      timed(count, () => inFlight(count, clients, (n) => boss.send("echo", { n, payload }))),
    async W5(count) {
      await start();
      return timed(count, () => allFinished(count));
    },
  };

  return {
    roles: () => Object.fromEntries(workers.map(({ pid }) => [pid, "worker"])),
    async warmUp() {
      if (workload === "W5") return;
      if (workload === "W7") return runs.W7(1000);
      await start();
      await runs.W1(warmUpJobs(workload));
    },
    async fill(count) {
      for (const chunk of chunks(count, 1000)) {
        await boss.insert(
          "echo",
          chunk.map((n) => ({ data: { n, payload } })),
        );
      }
    },
    run: (count) => runs[workload](count),
    async close() {
      for (const worker of workers) await worker.stop();
      await rows.close();
      await boss.stop({ graceful: false });
    },
  };
}
