import { fileURLToPath } from "node:url";
import { NativeConnection, Runtime, DefaultLogger, Worker } from "@temporalio/worker";
import { payload } from "../../harness/payload.js";
import { config, ready } from "../be-worker.js";

Runtime.install({ logger: new DefaultLogger("ERROR") });
const connection = await NativeConnection.connect({ address: config.address });
const worker = await Worker.create({
  connection,
  taskQueue: "bench",
  workflowsPath: fileURLToPath(new URL("workflows.js", import.meta.url)),
  activities: { echo: async (n) => ({ n, payload }) },
  maxConcurrentActivityTaskExecutions: 100,
  maxConcurrentWorkflowTaskExecutions: 100,
});
const ended = worker.run();
ready(async () => {
  worker.shutdown();
  await ended;
  await connection.close();
});
