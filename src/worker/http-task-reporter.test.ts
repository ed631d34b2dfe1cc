import fastify from "fastify";
import { expect, it } from "vitest";
import type { Delivery } from "../adapters/broker/broker.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { createClient } from "../core/api/client.ts";
import { remoteWorkerContracts } from "../core/api/remote-workers.ts";
import type { TaskMessage } from "../core/messages.ts";
import { createHttpTaskReporter } from "./http-task-reporter.ts";

it("sends the log lines of a chatty task in bodies that the orchestrator takes", async () => {
  // The limit of the orchestrator's own route, by which it refuses a larger body whole.
  const contract = remoteWorkerContracts.find(({ id }) => id === "logTasks");
  const bodyLimit = contract !== undefined && "bodyLimit" in contract ? contract.bodyLimit : 0;
  const received: string[] = [];
  const server = fastify({ bodyLimit });
  server.post("/api/v1/worker/log", async (request) => {
    const { lines } = request.body as { lines: { message: string }[] };
    received.push(...lines.map(({ message }) => message));
    return { stored: lines.length };
  });
  const baseUrl = await server.listen({ port: 0, host: "127.0.0.1" });
  const reporter = createHttpTaskReporter({
    client: createClient({ baseUrl, fetch }),
    workerId: "w",
    log: createLogger({ name: "test", level: "silent", format: "json" }),
  });
  const task = { message: {} as TaskMessage, delivery: { headers: {} } as Delivery };
  const sent = Array.from({ length: 1000 }, (_, index) => `${index} ${"é".repeat(8000)}`);
  const data = JSON.stringify({ text: "x".repeat(16_000) });
  for (const message of sent) reporter.log(task, { level: "info", message, data });
  await reporter.close();
  await server.close();
  expect(received).toEqual(sent);
});
