/** BullMQ on Redis with an append-only file that is synced once a second. */
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { FlowProducer, Queue, QueueEvents } from "bullmq";
import { chunks, inFlight } from "../../harness/in-flight.js";
import { clients } from "../../harness/plan.js";
import { payload } from "../../harness/payload.js";
import { timed, timeJobs } from "../../harness/time-jobs.js";
import { startWorker } from "../start-worker.js";
import { warmUpJobs } from "../../harness/warm-up.js";

const workerFile = fileURLToPath(new URL("worker.js", import.meta.url));
const queueName = "bench";

export async function open({ redisUrl, workload, variant }) {
  const connection = { url: redisUrl };
  const queue = new Queue(queueName, { connection });
  const flows = new FlowProducer({ connection });
  const events = new QueueEvents(queueName, { connection });
  await events.waitUntilReady();
  const workers = [];
  let done = 0;
  const start = async () => workers.push(await startWorker(workerFile, { redisUrl, queueName }));
  const allFinished = async (count) => {
    done += count;
    while ((await queue.getCompletedCount()) < done) await pause(5);
  };
  const node = (name, data, children) => ({
    name,
    queueName,
    data: { ...data, payload },
    children,
  });

  const runs = {
    W1: async (count) => {
      done += count;
      return timeJobs(count, async (n) => {
        const job = await queue.add("echo", { n, payload });
        const output = await job.waitUntilFinished(events);
        if (output.n !== n) throw new Error("the output is missing");
      });
    },
    W2: (count) =>
      timed(count, async () => {
        done += count;
        let tree = node("echo", { n: 0 });
        for (let n = 1; n < count; n++) tree = node("echo", { n }, [tree]);
        const { job } = await flows.add(tree);
        await job.waitUntilFinished(events);
      }),
    W3: (count) =>
      timed(count, async () => {
        done += count + 1;
        const children = Array.from({ length: count }, (_, n) => node("echo", { n }));
        const { job } = await flows.add(node("gather", {}, children));
        await job.waitUntilFinished(events);
      }),
    /** Its flows are trees, so the first task of a diamond adds the tree of the others. */
    W4: (count) =>
      timed(5 * count, async () => {
        if (variant === "single") {
          await inFlight(count, clients, (n) => queue.add("open", { n, payload }));
        } else {
          for (const chunk of chunks(count, 100)) {
            await queue.addBulk(chunk.map((n) => ({ name: "open", data: { n, payload } })));
          }
        }
        await allFinished(5 * count);
      }),
    W7: (count) =>
      timed(count, () => inFlight(count, clients, (n) => queue.add("echo", { n, payload }))),
    async W5(count) {
      await start();
      return timed(count, () => allFinished(count));
    },
  };
  return {
    roles: () => Object.fromEntries(workers.map(({ pid }) => [pid, "worker"])),
    async warmUp() {
      if (workload === "W5") return;
      if (workload === "W7") {
        await runs.W7(1000);
        return;
      }
      await start();
      await runs.W1(warmUpJobs(workload));
      if (workload === "W3") await runs.W3(100);
      if (workload === "W4") await runs.W4(20);
    },
    async fill(count) {
      for (const chunk of chunks(count, 1000)) {
        await queue.addBulk(chunk.map((n) => ({ name: "echo", data: { n, payload } })));
      }
    },
    run: (count) => runs[workload](count),
    async close() {
      for (const worker of workers) await worker.stop();
      await events.close();
      await flows.close();
      await queue.close();
    },
  };
}
