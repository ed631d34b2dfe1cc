/** The programs with RabbitMQ between them: one server and one database for all tests. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "amqplib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { temporaryFolders } from "../support/embedded.ts";
import {
  expectCrashesCostNothing,
  expectListedOnce,
  expectOnce,
} from "../support/outside-crashes.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { Orchestrator } from "../support/programs.ts";
import { noRabbitmq, startRabbitmq } from "../support/rabbitmq.ts";
import type { RabbitmqServer } from "../support/rabbitmq.ts";
import { waitFor } from "../support/wait.ts";

const olderWorkflow = `
name: For a worker of the existing platform
inputs:
  blob: { type: string }
nodes:
  validate:
    handler: echo
    queue: container-tasks
    timeout_seconds: 300
    params: { container_name: bronze, blob_name: "{{ inputs.blob }}" }
`;

/** On a busy machine a program takes half a minute to start, and RabbitMQ a whole one. */
const patience = { timeout: 300_000 };
const timeoutMs = 120_000;

describe.skipIf(noRabbitmq !== undefined)(noRabbitmq ?? "programs over RabbitMQ", patience, () => {
  let server: RabbitmqServer;
  let database: TestDatabase;
  let fleet: Fleet;
  const folders = temporaryFolders();
  let env: { BROKER: string; RABBITMQ_URL: string };

  beforeAll(async () => {
    [server, database] = await Promise.all([startRabbitmq(), createTestDatabase()]);
    env = { BROKER: "rabbitmq", RABBITMQ_URL: server.url };
    fleet = new Fleet(database.url);
  }, 180_000);
  afterEach(() => fleet.stopPrograms());
  afterAll(async () => {
    await fleet.stop();
    await server.remove();
    await database.drop();
    await folders.remove();
  });

  const brokerHealth = async ({ url }: Orchestrator) => {
    const answer = await fetch(`${url}/health`);
    const { parts } = (await answer.json()) as {
      parts: { broker: { status: string; detail: string } };
    };
    return parts.broker;
  };

  it("completes a job and a fan-out of 1,000 while RabbitMQ is killed and comes back", async () => {
    const orchestrator = await fleet.orchestrator(env);
    await fleet.worker(env);
    await finished(orchestrator, await submit(orchestrator, "echo_test", { message: "hello" }));
    const item_list = Array.from({ length: 1000 }, (_, index) => index);
    const id = await submit(orchestrator, "fan_out_test", { item_list });
    await waitFor(
      async () => {
        const { rows } = await database.db.query(
          "SELECT FROM dagapp.dag_attempts WHERE job_id = $1",
          [id],
        );
        return rows.length > 100;
      },
      { what: "a tenth of the tasks", timeoutMs },
    );
    await server.kill();
    const waiting = await submit(orchestrator, "echo_test", { message: "while it is away" });
    const away = await waitFor(
      async () => {
        const health = await brokerHealth(orchestrator);
        return health.status === "down" && health;
      },
      { what: "/health says that the broker is away", timeoutMs },
    );
    expect(away.detail).toMatch(/rabbitmq is away \(.+\), \d+ messages wait to be sent/);
    await server.start();
    await finished(orchestrator, id, timeoutMs);
    await finished(orchestrator, waiting, timeoutMs);
    await waitFor(async () => (await brokerHealth(orchestrator)).status === "ok", {
      what: "/health says that the broker is back",
      timeoutMs,
    });
    for (const job of [id, waiting]) await expectOnce(database.db, job);
    const metrics = await (await fetch(`${orchestrator.url}/metrics`)).text();
    expect(metrics).toMatch(/outbox_messages 0\n/);
    expect(metrics).toMatch(/broker_connected 1\n/);
    // Tasks come from RabbitMQ alone; their results go straight to the orchestrator.
    expect(metrics).toMatch(/engine_pushed_total 0\n/);
    expect(metrics).toMatch(/engine_reported_total [1-9]/);
  });

  it("loses nothing and does nothing twice when programs die at its fail points", async () => {
    await expectCrashesCostNothing({ fleet, db: database.db, env });
  });

  it("lists a message that was given up once, although its lister dies", async () => {
    await expectListedOnce({ fleet, db: database.db, env }, async (queue) => {
      const connection = await connect(server.url);
      const channel = await connection.createChannel();
      const message = await waitFor(() => channel.get(queue), { what: "the task", timeoutMs });
      channel.nack(message, false, false);
      await channel.close();
      await connection.close();
    });
  });

  it("lets a worker of the existing platform take a task and report it in its own format", async () => {
    const folder = await folders.make();
    await writeFile(path.join(folder, "older_worker_test.yaml"), olderWorkflow);
    const orchestrator = await fleet.orchestrator({ ...env, RMHDAG_WORKFLOWS: folder });
    // As the reference architecture describes it: a queue, a task in JSON, a result by POST.
    const connection = await connect(server.url);
    const channel = await connection.createChannel();
    const id = await submit(orchestrator, "older_worker_test", { blob: "data/file.tif" });
    const message = await waitFor(() => channel.get("container-tasks"), {
      what: "the task",
      timeoutMs,
    });
    const task = JSON.parse(message.content.toString()) as Record<string, unknown>;
    expect(task).toMatchObject({
      job_id: id,
      node_id: "validate",
      handler: "echo",
      params: { container_name: "bronze", blob_name: "data/file.tif" },
      timeout_seconds: 300,
      retry_count: 0,
    });
    const answer = await fetch(`${orchestrator.url}/api/v1/callbacks/task-result`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        task_id: task["task_id"],
        status: "completed",
        output: { valid: true },
        worker_id: "worker-xyz",
      }),
    });
    expect(answer.status).toBe(200);
    channel.ack(message);
    await finished(orchestrator, id, timeoutMs);
    await channel.close();
    await connection.close();
    await expectOnce(database.db, id);
  });

  it("takes a job that another program put into the job queue", async () => {
    const orchestrator = await fleet.orchestrator(env);
    await fleet.worker(env);
    const connection = await connect(server.url);
    const channel = await connection.createChannel();
    // Two copies, as a sender that repeats itself makes them.
    const job = {
      workflow_id: "echo_test",
      input_params: { message: "from the queue" },
      correlation_id: "outside-1",
      submitted_by: "platform",
      callback_url: null,
      idempotency_key: null,
      priority: 0,
      submitted_at: "2026-01-01T00:00:00",
      message_id: "3f2b",
    };
    for (let copy = 0; copy < 2; copy++) {
      channel.sendToQueue("dag-jobs", Buffer.from(JSON.stringify(job)), { messageId: "3f2b" });
    }
    const { items } = await waitFor(
      async () => {
        const found = await orchestrator.client.listJobs({
          query: { correlation_id: "outside-1" },
        });
        return found.items.length > 0 && found;
      },
      { what: "the job", timeoutMs },
    );
    await finished(orchestrator, items[0]!.job_id, timeoutMs);
    await connection.close();
    const { rows } = await database.db.query(
      "SELECT FROM dagapp.dag_jobs WHERE correlation_id = 'outside-1'",
    );
    expect(rows).toHaveLength(1);
  });
});
