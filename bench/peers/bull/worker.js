import { FlowProducer, Worker } from "bullmq";
import { config, ready } from "../be-worker.js";

const { queueName } = config;
const connection = { url: config.redisUrl };
const flows = new FlowProducer({ connection });

const handlers = {
  echo: (job) => job.data,
  gather: (job) => job.getChildrenValues(),
  async open(job) {
    const node = (name, children) => ({ name, queueName, data: job.data, children });
    await flows.add(node("gather", [node("echo"), node("echo"), node("echo")]));
    return job.data;
  },
};
const worker = new Worker(queueName, async (job) => handlers[job.name](job), {
  connection,
  concurrency: 50,
});
worker.on("error", (error) => process.stderr.write(`bullmq: ${error.message}\n`));
await worker.waitUntilReady();
ready(() => worker.close(true));
