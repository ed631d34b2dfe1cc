import fastify from "fastify";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, it } from "vitest";
import { waitFor } from "../../test/support/wait.ts";
import type { Delivery, Settled } from "../adapters/broker/broker.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { workerReportContracts } from "../core/api/worker-reports.ts";
import type { TaskMessage } from "../core/messages.ts";
import { createHttpReporter } from "./http-reporter.ts";
import type { Reporter, RunningTask } from "./reporter.ts";

interface Received {
  readonly url: string;
  readonly token: string | undefined;
  readonly body: Record<string, unknown>;
}

const log = createLogger({ name: "test", level: "silent", format: "json" });
let server: FastifyInstance;
let reporter: Reporter;
let received: Received[];
/** The next answers of the orchestrator, instead of accepting. */
let answers: { status: number; body: unknown }[];

beforeEach(async () => {
  received = [];
  answers = [];
  server = fastify({ bodyLimit: 64 * 1024 * 1024 });
  server.all("/api/v1/callbacks/*", async (request, reply) => {
    const body = (request.body ?? {}) as Record<string, unknown>;
    received.push({ url: request.url, token: request.headers.authorization, body });
    const answer = answers.shift();
    if (answer !== undefined) return reply.code(answer.status).send(answer.body);
    const results = (body["results"] ?? []) as { task_id: string }[];
    return { accepted: results.map(({ task_id }) => task_id), lost: [], seq: 1 };
  });
  const callbackUrl = await server.listen({ port: 0, host: "127.0.0.1" });
  reporter = createHttpReporter({
    callbackUrl,
    serviceToken: "secret",
    workerId: "w1",
    log,
    firstPauseMs: 1,
  });
});
afterEach(async () => {
  await reporter.close();
  await server.close();
});

/** A delivery of a broker that is not the database: it can only be completed. */
function task(id: string): RunningTask & { readonly settled: string[] } {
  const settled: string[] = [];
  const settle = (word: string) => async (): Promise<Settled> => {
    settled.push(word);
    return "ok";
  };
  const delivery: Delivery = {
    id,
    queue: "q",
    body: "",
    headers: {},
    deliveryCount: 1,
    signal: new AbortController().signal,
    onAbort: () => () => undefined,
    complete: settle("complete"),
    report: settle("report"),
    progress: () => undefined,
    retry: settle("retry"),
    deadLetter: settle("deadLetter"),
    renew: settle("renew"),
    release: settle("release"),
  };
  const message: TaskMessage = {
    task_id: id,
    job_id: "job",
    node_id: "node",
    handler: "echo",
    params: {},
    queue: "q",
    timeout_seconds: 60,
    attempt: 0,
    retry_count: 0,
  };
  return { message, delivery, settled };
}

const completed = { status: "completed", output: '{"a":1}' } as const;
const failed = {
  status: "failed",
  error: { code: "X", message: "no", category: "permanent" },
} as const;

it("posts a hundred large results in bodies that the orchestrator takes", async () => {
  // The limit of the orchestrator's own route, by which it would refuse a larger body.
  const [{ bodyLimit: limit }] = workerReportContracts;
  const output = JSON.stringify({ text: "é".repeat(250_000) });
  const settled = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      reporter.report(task(`large-${index}`), { status: "completed", output }),
    ),
  );
  expect(new Set(settled)).toEqual(new Set(["ok"]));
  for (const { body } of received) {
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(limit);
  }
});

it("posts results together, as the contract says, and completes their messages after it", async () => {
  const tasks = ["a", "b", "c"].map(task);
  const settled = await Promise.all(
    tasks.map((one, index) => reporter.report(one, index === 2 ? failed : completed)),
  );
  expect(settled).toEqual(["ok", "ok", "ok"]);
  expect(tasks.map((one) => one.settled)).toEqual([["complete"], ["complete"], ["complete"]]);
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({
    url: "/api/v1/callbacks/task-result",
    token: "Bearer secret",
  });
  expect(workerReportContracts[0].body.parse(received[0]?.body)).toHaveProperty("results", [
    {
      task_id: "a",
      job_id: "job",
      node_id: "node",
      worker_id: "w1",
      status: "completed",
      output: { a: 1 },
    },
    {
      task_id: "b",
      job_id: "job",
      node_id: "node",
      worker_id: "w1",
      status: "completed",
      output: { a: 1 },
    },
    { task_id: "c", job_id: "job", node_id: "node", worker_id: "w1", ...failed },
  ]);
});

it("tries again while the orchestrator is away, and completes nothing before", async () => {
  answers.push({ status: 503, body: {} }, { status: 500, body: {} });
  const one = task("a");
  expect(await reporter.report(one, completed)).toBe("ok");
  expect(received).toHaveLength(3);
  expect(one.settled).toEqual(["complete"]);
});

it("does not send a refused report again: the message stays unsettled", async () => {
  answers.push({ status: 401, body: {} });
  const one = task("a");
  await expect(reporter.report(one, completed)).rejects.toThrow();
  expect(received).toHaveLength(1);
  expect(one.settled).toEqual([]);
});

it("answers `lost` for a task of another worker, and completes the message", async () => {
  answers.push({ status: 200, body: { accepted: [], lost: ["a"] } });
  const one = task("a");
  expect(await reporter.report(one, completed)).toBe("lost");
  expect(one.settled).toEqual(["complete"]);
});

it("saves and loads checkpoints, and knows when the attempt is stale", async () => {
  expect(await reporter.saveCheckpoint(task("a"), "tiles", '{"n":3}')).toBe("ok");
  expect(workerReportContracts[2].body.parse(received[0]?.body)).toMatchObject({
    task_id: "a",
    phase: "tiles",
    data: { n: 3 },
  });
  answers.push({ status: 200, body: { checkpoint: { seq: 1, phase: "tiles", data: { n: 3 } } } });
  expect(await reporter.loadCheckpoint(task("a"))).toEqual({ phase: "tiles", data: { n: 3 } });
  expect(received[1]?.url).toBe("/api/v1/callbacks/checkpoint?job_id=job&node_id=node");
  answers.push({ status: 404, body: {} });
  expect(await reporter.loadCheckpoint(task("a"))).toBeUndefined();
  const problem = { type: "x", title: "x", detail: "x", instance: "x", errors: [] };
  answers.push({ status: 409, body: { ...problem, status: 409, code: "STALE_ATTEMPT" } });
  expect(await reporter.saveCheckpoint(task("a"), "tiles", "{}")).toBe("lost");
});

it("sends only the newest progress of a task", async () => {
  const one = task("a");
  for (const percent of [10, 20, 30]) reporter.progress(one, percent, `at ${percent}`);
  await waitFor(() => received.length > 0, { what: "the progress" });
  expect(received.map(({ body }) => workerReportContracts[1].body.parse(body))).toEqual([
    { task_id: "a", job_id: "job", node_id: "node", percent: 30, message: "at 30" },
  ]);
});
